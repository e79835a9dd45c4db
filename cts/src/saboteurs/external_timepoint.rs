// SPDX-License-Identifier: MIT OR Apache-2.0
//! Saboteurs of the order with streams of other libraries.

use windlass_hal::{Error, ExportFlags, ExternalStream, Operation, Point, QueueAffinity, Result};

use super::sabotage::{Change, Inner, Only, Sabotage, Submission, export};

saboteurs! {
    imports_do_not_wait_for_the_stream: "An import is a barrier.",
        Change(|o| if let Operation::ImportTimepoint { .. } = o { *o = Operation::Barrier }),
        ["external_timepoint.passes_through_a_stream"];
    imports_do_not_wait_for_their_waits: "An import waits for the stream alone.",
        Only("queue_import_timepoint", |inner, s| Submission { waits: &[], ..s }.to(inner)),
        ["external_timepoint.import_keeps_its_waits", "external_timepoint.import_fails_with_its_waits"];
    exports_nothing: "An export does nothing.", Exports(|_, _, _| Ok(())),
        [
            "external_timepoint.passes_through_a_stream", "external_timepoint.unsubmitted_points_refused",
            "external_timepoint.failed_points_refused",
        ];
    exports_the_first_point: "An export waits for the first of its points alone, and refuses to export none.",
        Exports(|inner, affinity, waits| match waits {
            [] => Err(Error::invalid_argument("no points")),
            waits => export(inner, affinity, &waits[..1], ExternalStream::DEFAULT, ExportFlags::NONE),
        }),
        ["external_timepoint.reached_points_are_exported"];
    exports_of_new_work_do_nothing: "An export waits for points that are reached alone.",
        Exports(|inner, affinity, waits| {
            let reached = |wait: &&Point| wait.semaphore.query().is_ok_and(|payload| payload >= wait.value);
            let reached: Vec<Point> = waits.iter().filter(reached).cloned().collect();
            export(inner, affinity, &reached, ExternalStream::DEFAULT, ExportFlags::NONE)
        }),
        // Of a chain of short work the numbers may be right by chance.
        ["external_timepoint.passes_through_a_stream"];
}

/// Changes exports.
struct Exports(fn(&Inner, QueueAffinity, &[Point]) -> Result<()>);

impl Sabotage for Exports {
    fn export(
        &self,
        inner: &Inner,
        affinity: QueueAffinity,
        waits: &[Point],
        _stream: ExternalStream,
        _flags: ExportFlags,
    ) -> Result<()> {
        (self.0)(inner, affinity, waits)
    }
}
