"""Requests that the document describes are accepted, unless the answer names a reason that no schema can express."""

import schemathesis
from schemathesis.specs.openapi.checks import positive_data_acceptance

REASONS = (
    # What an earlier answer contained.
    "unknown cursor",
    '"after" is not a position of this index',
    # What the present runs and files are.
    "is the prefix of",
    '"code":"invalid-params"',
    "unknown parameter",
    "was not kept: it is or holds a secret",
    "has no such step",
    'has no "sources"',
    "positional parameter",
    " is active",
    " is not active",
    "still running",
    "there is nothing to retry",
    "several steps wait for approval",
    '"until" has passed',
    # How several fields belong together.
    '"to" is before "from"',
    '"from" must be before "to"',
    "the schedule has no moment between",
    "the schedule has more than",
    "days long, more than",
    'which the tab "log" needs',
    '"If-Match" and "If-None-Match" exclude each other',
    'the inputs in "params" need names',
    # Lengths in bytes, leap years, and languages within a text.
    "cannot be the name of a workflow",
    "cannot be a group",
    "that month has fewer days",
    "is not a time",
    "is not a cron expression",
    "is not a valid regular expression",
    "the regular expression is too large",
    "contains the character U+0000",
    '"offsets" must be a list',
)


@schemathesis.check
def described_requests_are_accepted(ctx, response, case):
    # Other answers may be no text: an archive, for example.
    message = response.text.replace('\\"', '"') if response.status_code == 400 else ""
    if not any(reason in message for reason in REASONS):
        positive_data_acceptance(ctx, response, case)
