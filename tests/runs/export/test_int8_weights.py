import torch

from deixis.runs.export.int8_weights import expand, shrink


def test_a_weight_is_off_by_at_most_half_a_step_of_its_row():
    matrix = torch.randn(20, 30) * torch.logspace(-3, 2, 20)[:, None]
    back = expand(shrink({"layer.weight": matrix}))
    assert list(back) == ["layer.weight"]
    step = matrix.abs().amax(dim=1, keepdim=True) / 127
    assert ((back["layer.weight"] - matrix).abs() <= 0.5001 * step).all()


def test_vectors_whole_numbers_and_unshrunk_states_pass_as_they_are():
    state = {"bias": torch.randn(5), "ids": torch.arange(6).view(2, 3), "x.scale": torch.ones(2)}
    for passed in (expand(shrink(state)), expand(state)):
        assert passed.keys() == state.keys()
        assert all(torch.equal(passed[name], state[name]) for name in state)


def test_a_row_of_zeros_stays_one():
    assert torch.equal(expand(shrink({"w": torch.zeros(2, 3)}))["w"], torch.zeros(2, 3))
