"""The groups of a sharded library in this process; some of them may be switched off."""

from deixis.scale.serving.shard_group import ShardGroup


class LocalGroups:
    """Asks groups one after the other."""

    def __init__(self, url, of, cache):
        self.groups = [ShardGroup(url, number, of, cache) for number in range(of)]
        self.off = set()

    def __len__(self):
        return len(self.groups)

    def ask(self, work, arguments, seconds):
        pairs = enumerate(zip(self.groups, arguments, strict=True))
        return [
            None if number in self.off else getattr(group, work)(*given)
            for number, (group, given) in pairs
        ]
