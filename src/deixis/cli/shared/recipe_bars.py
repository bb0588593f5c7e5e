"""The events of a recipe as bars: one per kind of feature, then one per row and seed."""

from collections.abc import Mapping
from types import TracebackType
from typing import Any

from deixis.cli.shared.printing import output
from deixis.cli.shared.progress import Bars, report
from deixis.recipes.events import Counted, DataReady, Event, Stepped, TableReady

NOT_TERMS = ("step", "steps", "norm", "warning")  # of a log record, beside the terms of the loss


class RecipeBars:
    """Shows events as they come; what is finished makes room for what follows."""

    def __init__(self) -> None:
        self._bars: Bars | None = None
        self._shown = ""
        self._validated = ""

    def __enter__(self) -> "RecipeBars":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._close()

    def __call__(self, event: Event) -> None:
        """Show one event."""
        match event:
            case Counted():
                self._under("data").advance(event.what, event.done, event.total)
            case DataReady():
                self._close()
                sizes = (f"{name} {i} images {t} texts" for name, (i, t) in event.splits.items())
                report(f"{event.corpus}: {', '.join(sizes)}")
            case Stepped():
                self._step(f"{event.row}, seed {event.seed}", event.record)
            case TableReady():
                self._close()
                output.print(event.report.terminal())

    def _step(self, what: str, record: Mapping[str, Any]) -> None:
        bars = self._under(what)
        if "warning" in record:
            report(record["warning"], mark="warning:")
        if "validation" in record:
            self._validated = f"val {record['validation']:.1f} (best {record['best']:.1f})"
        elif "loss" in record:
            found = ((name, value) for name, value in record.items() if name not in NOT_TERMS)
            terms = " ".join(f"{name} {value:.3g}" for name, value in found)
            bars.advance(what, record["step"], record["steps"], f"{terms}  {self._validated}")

    def _under(self, shown: str) -> Bars:
        if self._bars is None or shown != self._shown:
            self._close()
            self._bars, self._shown = Bars(), shown
            self._bars.__enter__()
        return self._bars

    def _close(self) -> None:
        if self._bars is not None:
            self._bars.__exit__(None, None, None)
        self._bars, self._validated = None, ""
