from hypothesis import given
from hypothesis import strategies as st

from deixis.scale.plan import LONGEST, Picture, plan_shards

NAMES = st.lists(st.text(min_size=1, max_size=6), unique=True, max_size=60)


def pictures(names):
    return [Picture(name, len(name), "tag") for name in names]


@given(NAMES, st.integers(1, 9), st.randoms())
def test_any_order_gives_the_same_shards_and_loses_nothing(names, per_shard, random):
    listed = pictures(names)
    plans = plan_shards(listed, "model", per_shard)
    random.shuffle(listed)
    assert plan_shards(listed, "model", per_shard) == plans
    assert [one for plan in plans for one in plan.pictures] == sorted(listed)
    assert all(1 <= len(plan.pictures) <= LONGEST * per_shard for plan in plans)


def test_a_picture_more_changes_only_the_shard_it_falls_into():
    listed = pictures([f"{number:05}.jpg" for number in range(5000)])
    before = {plan.key for plan in plan_shards(listed, "model", 100)}
    after = {plan.key for plan in plan_shards([*listed, Picture("02500b", 1, "t")], "model", 100)}
    assert len(before) > 20
    assert len(after - before) <= 2, "at most the shard it is put in, or that shard cut in two"


def test_another_model_or_another_content_is_another_job():
    (plan,) = plan_shards(pictures(["a"]), "model", 100)
    (other,) = plan_shards(pictures(["a"]), "other", 100)
    (changed,) = plan_shards([Picture("a", 1, "new tag")], "model", 100)
    assert len({plan.key, other.key, changed.key}) == 3
