// Made from docs/reference/openapi.json; tests/docs/api-types.test.ts writes it anew.

export interface paths {
    "/api/v2/workflows": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists workflows, in the order of the paths of their files
         * @description Files that are not valid are listed, too: their `diagnostics` tell why. The answer has an `ETag`; who sends it as `If-None-Match` is answered with 304 until something changes.
         */
        get: operations["listWorkflows"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/workflows/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Shows a workflow
         * @description What its file says, as written: nothing is evaluated, and secrets are `***`. The `definition` is shown in full to who may change it.
         */
        get: operations["showWorkflow"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/workflows/{name}/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the runs of a workflow, newest first */
        get: operations["listRunsOfWorkflow"];
        put?: never;
        /**
         * Starts a run
         * @description Answers as soon as the run is on the disk; whether it has room to start is told by its status. With a `runId` the request can be repeated without harm: a run that is there already is answered with.
         */
        post: operations["startRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/validate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Tells what is wrong with the text of a workflow
         * @description Nothing is kept or run. What the text imports is looked for in the workflows directory, and never outside of it.
         */
        post: operations["validate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists runs, newest first */
        get: operations["listRuns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/runs/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Shows a run
         * @description The same JSON as `wf status --json` prints.
         */
        get: operations["showRun"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/runs/{id}/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stops a run
         * @description Whichever process carries it out: no further step starts, those that run are told to end, handlers still run. The request is on the disk when it is answered.
         */
        post: operations["stopRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/runs/{id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Runs again what did not succeed
         * @description A new run, of the workflow as it was then, in which steps that succeeded keep their results. With a `runId` the request can be repeated without harm.
         */
        post: operations["retryRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/runs/{id}/steps/{step}/mark": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Says how a step of a run that has ended counts from now on */
        post: operations["markStep"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/runs/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Streams what happens to a run
         * @description As server-sent events: first what has happened, then what happens. The `id` of each is its place in the journal, `event` its type, `data` the same JSON that `wf run --reporter json` prints. A comment comes every 15 seconds. When the run is over, an event `end` follows the last one, and the stream ends; who asks again from there on is answered with 204, at which an `EventSource` stops asking. Should an `id` not be higher than the one before, the journal was damaged there: what comes stands for everything from that place on.
         */
        get: operations["followEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/runs/{id}/logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Shows what the steps of a run have printed
         * @description Line by line, as `wf logs` does: attempt after attempt, in the order in which they began, with a line `--- attempt 2 ---` before the output of an attempt that is not the first. Each line begins with its step, unless only one was asked for. Control characters are left out but for colours; who needs every byte asks for the log of a step.
         */
        get: operations["runLogs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/runs/{id}/steps/{step}/logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Hands out what a step has printed, byte for byte
         * @description One stream of one attempt, as it is stored, whatever its size. A part of it is asked for with `Range`. With `follow` the answer goes on until the run is over, also with further attempts at the step; who has lost the connection goes on with `offset`. A step that was not started has printed nothing.
         */
        get: operations["stepLog"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Reports whether the daemon can start runs */
        get: operations["health"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Hands out what the daemon counts
         * @description In the text format of Prometheus. Names of workflows are in it.
         */
        get: operations["metrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Describes every route, for programs */
        get: operations["openApi"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/docs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Describes every route, for people */
        get: operations["docs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows the web page, or redirects to the description for people */
        get: operations["root"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description A run as it is at the moment, or as it ended. */
        RunSummary: {
            /** @description The id: a UUID of version 7, of version 8 where a schedule started the run, or what `--run-id` said. */
            runId: string;
            /** @description The name of the workflow. */
            workflow: string;
            /** @description The folder in the workflows directory, or `group` of the file; empty for none. */
            group: string;
            /** @description The absolute path of the file; null for standard input. */
            file: string | null;
            /**
             * @description How it stands.
             * @enum {string}
             */
            status: "queued" | "running" | "canceling" | "handling" | "succeeded" | "partially_succeeded" | "failed" | "canceled" | "skipped";
            /**
             * @description Why it ended so; null where there is nothing to add to the status.
             * @enum {string|null}
             */
            reason: "step" | "handler" | "precondition" | "stop" | "timeout" | "storage" | "lost" | "error" | null;
            /** @description One line to go with `reason`. */
            error: string | null;
            /**
             * @description Who asked for the run.
             * @enum {string}
             */
            trigger: "cli" | "api" | "schedule" | "workflow";
            /** @description The id of the run that this one retries. */
            retryOf: string | null;
            /** @description As the steps see them: given ones and evaluated defaults. */
            params: components["schemas"]["RunParam"][];
            /** @description The process that carries the run out. */
            owner: {
                pid: number;
                host: string;
            } | null;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            startedAt: string | null;
            /** Format: date-time */
            finishedAt: string | null;
            /** @description Milliseconds; null until it has ended. */
            durationMs: number | null;
            /** @description In the order of the file. */
            steps: components["schemas"]["RunStep"][];
            /** @description Those that the run came to, in the order in which they ran. */
            handlers: components["schemas"]["RunStep"][];
            /** @description What changed no outcome: a mail that could not be sent. */
            warnings: string[];
            /**
             * @description Failures that `continueOn.failure` tolerates fail the run; absent where they do not.
             * @constant
             */
            strict?: true;
        };
        /** @description A step or handler. */
        RunStep: {
            /** @description A handler has the name `handlerOn.failure`. */
            name: string;
            /** @enum {string} */
            status: "pending" | "scheduled" | "running" | "waiting" | "succeeded" | "failed" | "skipped" | "canceled" | "upstream_failed";
            /**
             * @description Why it failed.
             * @enum {string|null}
             */
            reason: "exit" | "signal" | "timeout" | "error" | "lost" | null;
            /** @description One line: why it failed, was skipped or canceled. */
            error: string | null;
            /** @description How many were made. */
            attempts: number;
            /** @description Of the last attempt: 128 and the signal, 127 not found, 126 not executable; null where no process ran. */
            exitCode: number | null;
            /** @description The signal that ended it: `SIGKILL`. */
            signal: string | null;
            /** Format: date-time */
            startedAt: string | null;
            /** Format: date-time */
            finishedAt: string | null;
            /** @description Milliseconds. */
            durationMs: number | null;
            /** @description Values of `output` by name. */
            outputs: {
                [key: string]: string;
            };
            /** @description The file with the standard output of the last attempt; its standard error lies beside it. */
            log: string | null;
            /** @description The id of the run of another workflow that carried out the last attempt; absent where no run did. */
            child?: string;
        };
        /** @description A parameter. */
        RunParam: {
            /** @description Null: a positional one. */
            name: string | null;
            value: string;
            /**
             * @description The value is a secret, or holds one, and is not told.
             * @constant
             */
            masked?: true;
        };
        /** @description What happened to a run, as it stands in its journal. */
        Event: components["schemas"]["EventRunCreated"] | components["schemas"]["EventRunQueued"] | components["schemas"]["EventRunOwned"] | components["schemas"]["EventRunPrepared"] | components["schemas"]["EventRunStarted"] | components["schemas"]["EventStepRestored"] | components["schemas"]["EventStepScheduled"] | components["schemas"]["EventStepStarted"] | components["schemas"]["EventStepWaiting"] | components["schemas"]["EventStepReady"] | components["schemas"]["EventStepFinished"] | components["schemas"]["EventStepMarked"] | components["schemas"]["EventRunDelayed"] | components["schemas"]["EventRunCanceling"] | components["schemas"]["EventRunHandling"] | components["schemas"]["EventRunWarned"] | components["schemas"]["EventRunFinished"];
        /** @description The run is known and has its id. */
        EventRunCreated: {
            /** @constant */
            type: "run.created";
            /** @description The id of the run. */
            runId: string;
            /**
             * Format: date-time
             * @description When.
             */
            at: string;
            /** @description The place in the journal, from 1. */
            seq: number;
            /** @description The name of the workflow. */
            workflow: string;
            /** @description Empty for none. */
            group: string;
            /** @description The absolute path; null for standard input. */
            file: string | null;
            /**
             * @description Who asked for it.
             * @enum {string}
             */
            trigger: "cli" | "api" | "schedule" | "workflow";
            /** @description The id of the run that this one retries. */
            retryOf: string | null;
            /** @description As given, before the defaults of the file. */
            params: components["schemas"]["EventParam"][];
            /**
             * @description Failures that `continueOn.failure` tolerates fail the run; absent where they do not.
             * @constant
             */
            strict?: true;
        };
        /** @description The run waits for a process that carries it out. */
        EventRunQueued: {
            /** @constant */
            type: "run.queued";
            /** @description The id of the run. */
            runId: string;
            /**
             * Format: date-time
             * @description When.
             */
            at: string;
            /** @description The place in the journal, from 1. */
            seq: number;
            /** @description Who has promised to start one. */
            by: components["schemas"]["EventOwner"];
            /** @description Whether the next daemon keeps the promise when this one ends. */
            lasting: boolean;
        };
        /** @description A process has taken the run over. */
        EventRunOwned: {
            /** @constant */
            type: "run.owned";
            /** @description The id of the run. */
            runId: string;
            /**
             * Format: date-time
             * @description When.
             */
            at: string;
            /** @description The place in the journal, from 1. */
            seq: number;
            owner: components["schemas"]["EventOwner"];
        };
        /** @description Parameters and defaults are evaluated. */
        EventRunPrepared: {
            /** @constant */
            type: "run.prepared";
            /** @description The id of the run. */
            runId: string;
            /**
             * Format: date-time
             * @description When.
             */
            at: string;
            /** @description The place in the journal, from 1. */
            seq: number;
            /** @description As the steps see them. */
            params: components["schemas"]["EventParam"][];
        };
        /** @description Steps may start. */
        EventRunStarted: {
            /** @constant */
            type: "run.started";
            /** @description The id of the run. */
            runId: string;
            /**
             * Format: date-time
             * @description When.
             */
            at: string;
            /** @description The place in the journal, from 1. */
            seq: number;
        };
        /** @description The result of a step is taken over from the run that is retried. */
        EventStepRestored: {
            /** @constant */
            type: "step.restored";
            /** @description The id of the run. */
            runId: string;
            /**
             * Format: date-time
             * @description When.
             */
            at: string;
            /** @description The place in the journal, from 1. */
            seq: number;
            /** @description Its name; a handler has the name `handlerOn.failure`. */
            step: string;
            /** @enum {string} */
            status: "succeeded" | "failed" | "skipped" | "canceled" | "upstream_failed";
            /** @description Values of `output` by name. */
            outputs: {
                [key: string]: string;
            };
            /** @description Names of outputs that are not told because they are or hold secrets. */
            masked?: string[];
            /** @description How it ended then, unless it succeeded or was never reached. */
            before?: {
                /** @description The id of the run that it ended in, which has its logs. */
                runId: string;
                /**
                 * @description Why it failed.
                 * @enum {string|null}
                 */
                reason: "exit" | "signal" | "timeout" | "error" | "lost" | null;
                /** @description One line for a person; empty where there is nothing to say. */
                message: string;
                exitCode: number | null;
                signal: string | null;
            };
        };
        /** @description An attempt at the step is due. */
        EventStepScheduled: {
            /** @constant */
            type: "step.scheduled";
            /** @description The id of the run. */
            runId: string;
            /**
             * Format: date-time
             * @description When.
             */
            at: string;
            /** @description The place in the journal, from 1. */
            seq: number;
            /** @description Its name; a handler has the name `handlerOn.failure`. */
            step: string;
            /** @description From 1. */
            attempt: number;
        };
        /** @description The attempt is under way. */
        EventStepStarted: {
            /** @constant */
            type: "step.started";
            /** @description The id of the run. */
            runId: string;
            /**
             * Format: date-time
             * @description When.
             */
            at: string;
            /** @description The place in the journal, from 1. */
            seq: number;
            /** @description Its name; a handler has the name `handlerOn.failure`. */
            step: string;
            /** @description From 1. */
            attempt: number;
            /** @description Its process; null where there is none. */
            process: components["schemas"]["EventProcess"] | null;
            /** @description The id of the run of another workflow that carries the attempt out. */
            child?: string;
        };
        /** @description The attempt has ended and there will be another one. */
        EventStepWaiting: {
            /** @constant */
            type: "step.waiting";
            /** @description The id of the run. */
            runId: string;
            /**
             * Format: date-time
             * @description When.
             */
            at: string;
            /** @description The place in the journal, from 1. */
            seq: number;
            /** @description Its name; a handler has the name `handlerOn.failure`. */
            step: string;
            /** @description From 1. */
            attempt: number;
            /**
             * @description Which policy asks for it.
             * @enum {string}
             */
            why: "retry" | "repeat";
            /**
             * Format: date-time
             * @description When it is due.
             */
            until: string;
            /** @description How the attempt ended. */
            outcome: components["schemas"]["EventOutcome"];
        };
        /** @description The wait is over. */
        EventStepReady: {
            /** @constant */
            type: "step.ready";
            /** @description The id of the run. */
            runId: string;
            /**
             * Format: date-time
             * @description When.
             */
            at: string;
            /** @description The place in the journal, from 1. */
            seq: number;
            /** @description Its name; a handler has the name `handlerOn.failure`. */
            step: string;
        };
        /** @description Nothing more happens to the step. */
        EventStepFinished: {
            /** @constant */
            type: "step.finished";
            /** @description The id of the run. */
            runId: string;
            /**
             * Format: date-time
             * @description When.
             */
            at: string;
            /** @description The place in the journal, from 1. */
            seq: number;
            /** @description Its name; a handler has the name `handlerOn.failure`. */
            step: string;
            /** @description The last one; 0 where none was made. */
            attempt: number;
            /** @enum {string} */
            status: "succeeded" | "failed" | "skipped" | "canceled" | "upstream_failed";
            /**
             * @description Why it failed.
             * @enum {string|null}
             */
            reason: "exit" | "signal" | "timeout" | "error" | "lost" | null;
            /** @description One line for a person; empty where there is nothing to say. */
            message: string;
            exitCode: number | null;
            signal: string | null;
            /** @description Values of `output` by name. */
            outputs: {
                [key: string]: string;
            };
            /** @description Names of outputs that are not told because they are or hold secrets. */
            masked?: string[];
        };
        /** @description After the end of the run: a person has said how a step ended. */
        EventStepMarked: {
            /** @constant */
            type: "step.marked";
            /** @description The id of the run. */
            runId: string;
            /**
             * Format: date-time
             * @description When.
             */
            at: string;
            /** @description The place in the journal, from 1. */
            seq: number;
            /** @description Its name; a handler has the name `handlerOn.failure`. */
            step: string;
            /** @enum {string} */
            status: "succeeded" | "failed";
            /** @description Who, for a person to read. */
            by: string;
            /** @description What that makes of the run. */
            run: {
                /** @enum {string} */
                status: "succeeded" | "partially_succeeded" | "failed" | "canceled" | "skipped";
                /** @enum {string|null} */
                reason: "step" | "handler" | "precondition" | "stop" | "timeout" | "storage" | "lost" | "error" | null;
                message: string;
            };
        };
        /** @description No step starts for a while (`delaySec`). */
        EventRunDelayed: {
            /** @constant */
            type: "run.delayed";
            /** @description The id of the run. */
            runId: string;
            /**
             * Format: date-time
             * @description When.
             */
            at: string;
            /** @description The place in the journal, from 1. */
            seq: number;
            /**
             * Format: date-time
             * @description How long.
             */
            until: string;
        };
        /** @description The run is being ended: no further step starts, running ones are asked to end. */
        EventRunCanceling: {
            /** @constant */
            type: "run.canceling";
            /** @description The id of the run. */
            runId: string;
            /**
             * Format: date-time
             * @description When.
             */
            at: string;
            /** @description The place in the journal, from 1. */
            seq: number;
            /** @enum {string} */
            reason: "stop" | "timeout" | "storage";
            /** @description One line for a person. */
            message: string;
            /** @description Running steps are killed at once, and no handler runs. */
            force: boolean;
        };
        /** @description All steps are settled; handlers follow. */
        EventRunHandling: {
            /** @constant */
            type: "run.handling";
            /** @description The id of the run. */
            runId: string;
            /**
             * Format: date-time
             * @description When.
             */
            at: string;
            /** @description The place in the journal, from 1. */
            seq: number;
            /**
             * @description What the run ends with, unless a handler fails or is canceled.
             * @enum {string}
             */
            status: "succeeded" | "partially_succeeded" | "failed" | "canceled" | "skipped";
            /** @enum {string|null} */
            reason: "step" | "handler" | "precondition" | "stop" | "timeout" | "storage" | "lost" | "error" | null;
            /** @description Those that will run, in their order. */
            handlers: ("success" | "failure" | "cancel" | "exit")[];
        };
        /** @description Something went wrong that changes no outcome: a mail that cannot be sent. May come after `run.finished`. */
        EventRunWarned: {
            /** @constant */
            type: "run.warned";
            /** @description The id of the run. */
            runId: string;
            /**
             * Format: date-time
             * @description When.
             */
            at: string;
            /** @description The place in the journal, from 1. */
            seq: number;
            /** @description Null where it is about the run. */
            step: string | null;
            /** @description One line for a person. */
            message: string;
        };
        /** @description The run is over. */
        EventRunFinished: {
            /** @constant */
            type: "run.finished";
            /** @description The id of the run. */
            runId: string;
            /**
             * Format: date-time
             * @description When.
             */
            at: string;
            /** @description The place in the journal, from 1. */
            seq: number;
            /** @enum {string} */
            status: "succeeded" | "partially_succeeded" | "failed" | "canceled" | "skipped";
            /**
             * @description Why it ended so.
             * @enum {string|null}
             */
            reason: "step" | "handler" | "precondition" | "stop" | "timeout" | "storage" | "lost" | "error" | null;
            /** @description One line for a person; empty where there is nothing to say. */
            message: string;
        };
        /** @description A process as it can be told from any other that gets its number later. */
        EventProcess: {
            pid: number;
            /** @description In clock ticks since the machine started; null where the system does not tell. */
            startTime: number | null;
            /** @description The id of that start of the machine. */
            boot: string | null;
            /** @description The namespace in which the number counts; a container has one of its own. */
            namespace?: string | null;
        };
        /** @description A process and its machine. */
        EventOwner: {
            pid: number;
            startTime: number | null;
            boot: string | null;
            host: string;
            /** @description The namespace in which the number counts; a container has one of its own. */
            namespace?: string | null;
            /** @description Stays when the machine starts again; null where nothing reliable tells, as in a container. */
            machine?: string | null;
        };
        /** @description A parameter. */
        EventParam: {
            /** @description Null: a positional one. */
            name: string | null;
            value: string;
            /**
             * @description The value is a secret, or holds one, and is not told.
             * @constant
             */
            masked?: true;
        };
        /** @description How one attempt ended. */
        EventOutcome: {
            /** @constant */
            status: "succeeded";
            exitCode: number | null;
            outputs: {
                [key: string]: string;
            };
        } | {
            /** @constant */
            status: "failed";
            /** @enum {string} */
            reason: "exit" | "signal" | "timeout" | "error" | "lost";
            message: string;
            exitCode: number | null;
            signal: string | null;
            outputs: {
                [key: string]: string;
            };
        } | {
            /** @constant */
            status: "skipped";
            message: string;
        } | {
            /** @constant */
            status: "canceled";
            message: string;
            exitCode: number | null;
            signal: string | null;
        };
        /** @description One problem of a workflow file. */
        Diagnostic: {
            /** @enum {string} */
            severity: "error" | "warning";
            /** @description A stable word for the kind of problem: `unknown-key`. */
            code: string;
            /** @description What is wrong. */
            message: string;
            /** @description The absolute path of the file, "-" for a text without one; null where none is meant. */
            file: string | null;
            /** @description From 1; null where the file as a whole is meant. */
            line: number | null;
            /** @description From 1. */
            column: number | null;
            endLine: number | null;
            /** @description The first column behind it. */
            endColumn: number | null;
            /** @description What to do. */
            help: string | null;
        };
        /** @description The steps of a workflow and what they depend on. */
        Graph: {
            nodes: {
                name: string;
                /**
                 * @description Null for a step.
                 * @enum {string|null}
                 */
                handler: "success" | "failure" | "cancel" | "exit" | null;
                executor: string;
            }[];
            /** @description `to` depends on `from`. */
            edges: {
                from: string;
                to: string;
            }[];
        };
        /** @description One line that a step has printed. */
        LogLine: {
            step: string;
            /** @description From 1. */
            attempt: number;
            /** @enum {string} */
            stream: "stdout" | "stderr";
            /** @description Without the line end. */
            text: string;
            /**
             * @description The line is longer than 65,536 characters and goes on in the next one of this stream; absent otherwise.
             * @constant
             */
            continues?: true;
        };
        /** @description When the workflow is started, stopped and restarted, as cron expressions. */
        Schedule: {
            start: string[];
            stop: string[];
            restart: string[];
            /** @description The zone in which expressions without their own are read; null: that of the machine. */
            timeZone: string | null;
            /**
             * @description What happens when a run is due while another one is active.
             * @enum {string}
             */
            overlap: "skip" | "queue" | "all";
            /**
             * @description Which runs are made up for that nobody could start.
             * @enum {string}
             */
            catchup: "none" | "latest" | "all";
            /** @description How far back they may lie; null: without limit. */
            catchupWindowMs: number | null;
        };
        /** @description What went wrong, by RFC 9457. */
        Problem: {
            /** @description `urn:wf:problem:` and `code`. */
            type: string;
            /** @description What `code` means. */
            title: string;
            /** @description The HTTP status. */
            status: number;
            /** @description What happened, to what. */
            detail: string;
            /**
             * @description A stable word for what went wrong.
             * @enum {string}
             */
            code: "usage" | "invalid-params" | "not-found" | "invalid-workflow" | "run-exists" | "run-active" | "conflict" | "busy" | "denied" | "unreachable" | "storage" | "not-built" | "bad-request" | "login-needed" | "forbidden" | "method-not-allowed" | "too-large" | "unsupported-media-type" | "range-not-satisfiable" | "wrong-host" | "too-many-logins" | "headers-too-large" | "unavailable" | "full" | "bug";
            /** @description What to do, or more of what is wrong. */
            help?: string;
            /** @description What is wrong with a workflow. */
            diagnostics?: components["schemas"]["Diagnostic"][];
        };
        /** @description A run without its steps. */
        RunHead: {
            /** @description The id: a UUID of version 7, of version 8 where a schedule started the run, or what `--run-id` said. */
            runId: string;
            /** @description The name of the workflow. */
            workflow: string;
            /** @description The folder in the workflows directory, or `group` of the file; empty for none. */
            group: string;
            /** @description The absolute path of the file; null for standard input. */
            file: string | null;
            /**
             * @description How it stands.
             * @enum {string}
             */
            status: "queued" | "running" | "canceling" | "handling" | "succeeded" | "partially_succeeded" | "failed" | "canceled" | "skipped";
            /**
             * @description Why it ended so; null where there is nothing to add to the status.
             * @enum {string|null}
             */
            reason: "step" | "handler" | "precondition" | "stop" | "timeout" | "storage" | "lost" | "error" | null;
            /** @description One line to go with `reason`. */
            error: string | null;
            /**
             * @description Who asked for the run.
             * @enum {string}
             */
            trigger: "cli" | "api" | "schedule" | "workflow";
            /** @description The id of the run that this one retries. */
            retryOf: string | null;
            /** @description As the steps see them: given ones and evaluated defaults. */
            params: components["schemas"]["RunParam"][];
            /** @description The process that carries the run out. */
            owner: {
                pid: number;
                host: string;
            } | null;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            startedAt: string | null;
            /** Format: date-time */
            finishedAt: string | null;
            /** @description Milliseconds; null until it has ended. */
            durationMs: number | null;
            /**
             * @description Failures that `continueOn.failure` tolerates fail the run; absent where they do not.
             * @constant
             */
            strict?: true;
        };
        /** @description A workflow of the workflows directory. */
        Workflow: {
            /** @description What a path calls it: the name of its file, with its group where it needs one. */
            id: string;
            /** @description What the file calls it. */
            name: string;
            /** @description The folder in the workflows directory; empty for none. */
            group: string;
            /** @description The absolute path. */
            file: string;
            description: string;
            tags: string[];
            schedule: components["schemas"]["Schedule"];
            /** @description Problems of the file. One with errors cannot be run. */
            diagnostics: components["schemas"]["Diagnostic"][];
            /**
             * Format: date-time
             * @description When it is started next; null without a schedule, and while that is suspended.
             */
            next: string | null;
            /** @description Whether the schedule is switched off. */
            suspended: boolean;
            /** @description The last run; null where there is none. */
            lastRun: components["schemas"]["RunHead"] | null;
        };
        /** @description A page of workflows. */
        WorkflowPage: {
            /** @description In the order of the paths. */
            workflows: components["schemas"]["Workflow"][];
            /** @description What to pass as `cursor` for the next page; null on the last. */
            nextCursor: string | null;
        };
        /** @description A workflow with everything that its file says. */
        WorkflowDetail: {
            /** @description What a path calls it: the name of its file, with its group where it needs one. */
            id: string;
            /** @description What the file calls it. */
            name: string;
            /** @description The folder in the workflows directory; empty for none. */
            group: string;
            /** @description The absolute path. */
            file: string;
            description: string;
            tags: string[];
            schedule: components["schemas"]["Schedule"];
            /** @description Problems of the file. One with errors cannot be run. */
            diagnostics: components["schemas"]["Diagnostic"][];
            /**
             * Format: date-time
             * @description When it is started next; null without a schedule, and while that is suspended.
             */
            next: string | null;
            /** @description Whether the schedule is switched off. */
            suspended: boolean;
            /** @description The last run; null where there is none. */
            lastRun: components["schemas"]["RunHead"] | null;
            /** @description The text of the file; null where it cannot be read, or may not be seen. */
            definition: string | null;
            /** @description In the order of the file. */
            params: {
                /** @description Null: a positional one. */
                name: string | null;
                value: string;
                /** @description The file gives no value; who starts it should. */
                open: boolean;
            }[];
            /** @description In the order of the file. */
            env: {
                name: string;
                value: string;
            }[];
            /** @description In the order of the file, imported ones first. */
            steps: components["schemas"]["Step"][];
            /** @description They are called `handlerOn.success`, `.failure`, `.cancel`, `.exit`. */
            handlers: components["schemas"]["Step"][];
            /** @description Null for a file that is not valid. */
            graph: components["schemas"]["Graph"] | null;
            /** @description The ids of the runs that go on or wait, newest first. */
            active: string[];
        };
        /** @description A step or handler as its file has it, with every default filled in. */
        Step: {
            name: string;
            description: string;
            /** @description What it runs with. */
            executor: {
                /** @description `command` where the file says nothing. */
                type: string;
                /** @description Its settings. */
                config: Record<string, never>;
            };
            command: string | string[] | null;
            args: string[];
            script: string | null;
            dir: string | null;
            depends: string[];
            /** @description What must hold for the step to run. */
            preconditions: {
                condition: string;
                expected: string | null;
            }[];
            /** @description After what the run goes on. */
            continueOn: {
                failure: boolean;
                skipped: boolean;
            };
            /** @description Further attempts after the first. */
            retry: {
                limit: number;
                intervalMs: number;
            };
            /** @description Null: it runs once. */
            repeat: {
                intervalMs: number;
            } | null;
            /** @description The variable for what it prints. */
            output: string | null;
            stdout: string | null;
            stderr: string | null;
            /** @description Its own variables. */
            env: {
                name: string;
                value: string;
            }[];
            signalOnStop: string;
            /** @description 0: no limit. */
            timeoutMs: number;
        };
        /** @description A page of runs. */
        RunPage: {
            /** @description Newest first. */
            runs: components["schemas"]["RunSummary"][];
            /** @description What to pass as `cursor` for the next page; null on the last. */
            nextCursor: string | null;
        };
        /** @description A run to start. */
        StartRequest: {
            /** @description Parameters instead of the defaults of the file. A text is read as on the command line: `A=1 B="x y" positional`. In a list each entry is one parameter, byte for byte: `NAME=value`, a positional value, or as a run tells them. A map has names and values. */
            params?: string | (string | {
                name: string | null;
                value: string;
                /** @constant */
                masked?: true;
            })[] | {
                [key: string]: string | number | boolean;
            } | null;
            /** @description The id of the new run: 1 to 128 of `A-Z a-z 0-9 . _ -`. One is made where none is given. */
            runId?: string | null;
            /** @description Failures that `continueOn.failure` tolerates fail the run. */
            strict?: boolean | null;
        };
        /** @description What to run again. Nothing said: what did not succeed, and what comes after it. */
        RetryRequest: {
            /** @description This step alone. */
            step?: string | null;
            /** @description This step and all after it. */
            from?: string | null;
            /** @description Parameters instead of the defaults of the file. A text is read as on the command line: `A=1 B="x y" positional`. In a list each entry is one parameter, byte for byte: `NAME=value`, a positional value, or as a run tells them. A map has names and values. */
            params?: string | (string | {
                name: string | null;
                value: string;
                /** @constant */
                masked?: true;
            })[] | {
                [key: string]: string | number | boolean;
            } | null;
            /** @description Takes the file as it is today. */
            useFile?: boolean | null;
            /** @description The id of the new run: 1 to 128 of `A-Z a-z 0-9 . _ -`. One is made where none is given. */
            runId?: string | null;
            /** @description Failures that `continueOn.failure` tolerates fail the run. */
            strict?: boolean | null;
        };
        /** @description How a step counts. */
        MarkRequest: {
            /** @enum {string} */
            status: "succeeded" | "failed";
        };
        ErrorV1: {
            /** @description The HTTP status, of what HTTP itself refuses. */
            code?: number;
            message: string;
            detailedMessage: string;
            diagnostics?: components["schemas"]["Diagnostic"][];
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listWorkflows: {
        parameters: {
            query?: {
                /**
                 * @description Only those with this text in their name or in that of their file, whatever its case.
                 * @example etl
                 */
                name?: string;
                /** @description Only those with this tag, whatever its case. */
                tag?: string;
                /** @description Only those in this folder of the workflows directory; empty: in none. */
                group?: string;
                /** @description How many at most. */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of workflows. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "workflows": [
                     *         {
                     *           "id": "etl.yaml",
                     *           "name": "etl",
                     *           "group": "",
                     *           "file": "/srv/wf/dags/etl.yaml",
                     *           "description": "Yesterday in numbers",
                     *           "tags": [
                     *             "nightly"
                     *           ],
                     *           "schedule": {
                     *             "start": [
                     *               "0 3 * * *"
                     *             ],
                     *             "stop": [],
                     *             "restart": [],
                     *             "timeZone": null,
                     *             "overlap": "skip",
                     *             "catchup": "none",
                     *             "catchupWindowMs": null
                     *           },
                     *           "diagnostics": [],
                     *           "next": "2026-03-02T03:00:00.000Z",
                     *           "suspended": false,
                     *           "lastRun": {
                     *             "runId": "019c8f5a-2b1e-7c40-9d0f-3f1c6a7be112",
                     *             "workflow": "etl",
                     *             "group": "",
                     *             "file": "/srv/wf/dags/etl.yaml",
                     *             "status": "failed",
                     *             "reason": "step",
                     *             "error": "step \"load\" failed: exit 3",
                     *             "trigger": "api",
                     *             "retryOf": null,
                     *             "params": [
                     *               {
                     *                 "name": "DAY",
                     *                 "value": "2026-03-01"
                     *               }
                     *             ],
                     *             "owner": {
                     *               "pid": 4711,
                     *               "host": "build"
                     *             },
                     *             "createdAt": "2026-03-01T03:00:00.104Z",
                     *             "startedAt": "2026-03-01T03:00:00.231Z",
                     *             "finishedAt": "2026-03-01T03:00:01.090Z",
                     *             "durationMs": 859
                     *           }
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["WorkflowPage"];
                };
            };
            /** @description Nothing has changed. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Bad Request. The request makes no sense; the message says why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Unauthorized. There is no login, or a wrong one. */
            401: {
                headers: {
                    /** @description What is asked for. */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden. A page of another site asks. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Timeout. The request took too long to come. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Payload Too Large. The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Misdirected Request. The server is not called by that name. */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too Many Requests. There were too many wrong logins. */
            429: {
                headers: {
                    /** @description Seconds to wait. */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Header Fields Too Large. There are too many headers, or they are too long. */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Internal Server Error. The disk refuses, or there is a bug; the log of the daemon tells more. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable. There are too many connections, or the daemon has no descriptors, processes or memory left. */
            503: {
                headers: {
                    /** @description Seconds to wait. */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Insufficient Storage. The disk is full. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    showWorkflow: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The `id` of a workflow: the name of its file, with or without extension. Where two files share it, the group comes before it, with the slash encoded: `ops%2Fnightly`.
                 * @example etl
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The workflow. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "etl.yaml",
                     *       "name": "etl",
                     *       "group": "",
                     *       "file": "/srv/wf/dags/etl.yaml",
                     *       "description": "Yesterday in numbers",
                     *       "tags": [
                     *         "nightly"
                     *       ],
                     *       "schedule": {
                     *         "start": [
                     *           "0 3 * * *"
                     *         ],
                     *         "stop": [],
                     *         "restart": [],
                     *         "timeZone": null,
                     *         "overlap": "skip",
                     *         "catchup": "none",
                     *         "catchupWindowMs": null
                     *       },
                     *       "diagnostics": [],
                     *       "next": "2026-03-02T03:00:00.000Z",
                     *       "suspended": false,
                     *       "lastRun": {
                     *         "runId": "019c8f5a-2b1e-7c40-9d0f-3f1c6a7be112",
                     *         "workflow": "etl",
                     *         "group": "",
                     *         "file": "/srv/wf/dags/etl.yaml",
                     *         "status": "failed",
                     *         "reason": "step",
                     *         "error": "step \"load\" failed: exit 3",
                     *         "trigger": "api",
                     *         "retryOf": null,
                     *         "params": [
                     *           {
                     *             "name": "DAY",
                     *             "value": "2026-03-01"
                     *           }
                     *         ],
                     *         "owner": {
                     *           "pid": 4711,
                     *           "host": "build"
                     *         },
                     *         "createdAt": "2026-03-01T03:00:00.104Z",
                     *         "startedAt": "2026-03-01T03:00:00.231Z",
                     *         "finishedAt": "2026-03-01T03:00:01.090Z",
                     *         "durationMs": 859
                     *       },
                     *       "definition": "description: Yesterday in numbers\ntags: nightly\nschedule: \"0 3 * * *\"\nparams: DAY=yesterday\nsteps:\n  - name: extract\n    command: ./extract $DAY\n    output: ROWS\n  - name: load\n    command: ./load $ROWS\n    depends: extract\n",
                     *       "params": [
                     *         {
                     *           "name": "DAY",
                     *           "value": "yesterday",
                     *           "open": false
                     *         }
                     *       ],
                     *       "env": [],
                     *       "steps": [
                     *         {
                     *           "description": "",
                     *           "executor": {
                     *             "type": "command",
                     *             "config": {}
                     *           },
                     *           "args": [],
                     *           "script": null,
                     *           "dir": null,
                     *           "preconditions": [],
                     *           "continueOn": {
                     *             "failure": false,
                     *             "skipped": false
                     *           },
                     *           "retry": {
                     *             "limit": 0,
                     *             "intervalMs": 0
                     *           },
                     *           "repeat": null,
                     *           "stdout": null,
                     *           "stderr": null,
                     *           "env": [],
                     *           "signalOnStop": "SIGTERM",
                     *           "timeoutMs": 0,
                     *           "name": "extract",
                     *           "command": "./extract $DAY",
                     *           "depends": [],
                     *           "output": "ROWS"
                     *         },
                     *         {
                     *           "description": "",
                     *           "executor": {
                     *             "type": "command",
                     *             "config": {}
                     *           },
                     *           "args": [],
                     *           "script": null,
                     *           "dir": null,
                     *           "preconditions": [],
                     *           "continueOn": {
                     *             "failure": false,
                     *             "skipped": false
                     *           },
                     *           "retry": {
                     *             "limit": 0,
                     *             "intervalMs": 0
                     *           },
                     *           "repeat": null,
                     *           "stdout": null,
                     *           "stderr": null,
                     *           "env": [],
                     *           "signalOnStop": "SIGTERM",
                     *           "timeoutMs": 0,
                     *           "name": "load",
                     *           "command": "./load $ROWS",
                     *           "depends": [
                     *             "extract"
                     *           ],
                     *           "output": null
                     *         }
                     *       ],
                     *       "handlers": [],
                     *       "graph": {
                     *         "nodes": [
                     *           {
                     *             "name": "extract",
                     *             "handler": null,
                     *             "executor": "command"
                     *           },
                     *           {
                     *             "name": "load",
                     *             "handler": null,
                     *             "executor": "command"
                     *           }
                     *         ],
                     *         "edges": [
                     *           {
                     *             "from": "extract",
                     *             "to": "load"
                     *           }
                     *         ]
                     *       },
                     *       "active": []
                     *     }
                     */
                    "application/json": components["schemas"]["WorkflowDetail"];
                };
            };
            /** @description Bad Request. The request makes no sense; the message says why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Unauthorized. There is no login, or a wrong one. */
            401: {
                headers: {
                    /** @description What is asked for. */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden. A page of another site asks. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not Found. There is no such workflow. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Timeout. The request took too long to come. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Conflict. The name is that of several workflows. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Payload Too Large. The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Misdirected Request. The server is not called by that name. */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too Many Requests. There were too many wrong logins. */
            429: {
                headers: {
                    /** @description Seconds to wait. */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Header Fields Too Large. There are too many headers, or they are too long. */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Internal Server Error. The disk refuses, or there is a bug; the log of the daemon tells more. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable. There are too many connections, or the daemon has no descriptors, processes or memory left. */
            503: {
                headers: {
                    /** @description Seconds to wait. */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Insufficient Storage. The disk is full. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listRunsOfWorkflow: {
        parameters: {
            query?: {
                /**
                 * @description Only those of one of these statuses, separated by commas.
                 * @example failed,canceled
                 */
                status?: string;
                /** @description Only those that were made at that moment or later: `2026-03-01T12:00:00Z`, or a day. */
                from?: string;
                /** @description Only those that were made at that moment or earlier; a day is meant from its start. */
                to?: string;
                /** @description How many at most. */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path: {
                /**
                 * @description The `id` of a workflow: the name of its file, with or without extension. Where two files share it, the group comes before it, with the slash encoded: `ops%2Fnightly`.
                 * @example etl
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of runs. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "runs": [
                     *         {
                     *           "runId": "019c8f5a-2b1e-7c40-9d0f-3f1c6a7be112",
                     *           "workflow": "etl",
                     *           "group": "",
                     *           "file": "/srv/wf/dags/etl.yaml",
                     *           "status": "failed",
                     *           "reason": "step",
                     *           "error": "step \"load\" failed: exit 3",
                     *           "trigger": "api",
                     *           "retryOf": null,
                     *           "params": [
                     *             {
                     *               "name": "DAY",
                     *               "value": "2026-03-01"
                     *             }
                     *           ],
                     *           "owner": {
                     *             "pid": 4711,
                     *             "host": "build"
                     *           },
                     *           "createdAt": "2026-03-01T03:00:00.104Z",
                     *           "startedAt": "2026-03-01T03:00:00.231Z",
                     *           "finishedAt": "2026-03-01T03:00:01.090Z",
                     *           "durationMs": 859,
                     *           "steps": [
                     *             {
                     *               "name": "extract",
                     *               "status": "succeeded",
                     *               "reason": null,
                     *               "error": null,
                     *               "attempts": 1,
                     *               "exitCode": 0,
                     *               "signal": null,
                     *               "startedAt": "2026-03-01T03:00:00.233Z",
                     *               "finishedAt": "2026-03-01T03:00:00.640Z",
                     *               "durationMs": 407,
                     *               "outputs": {
                     *                 "ROWS": "42"
                     *               },
                     *               "log": "/srv/wf/runs/019c8f5a-2b1e-7c40-9d0f-3f1c6a7be112/logs/00001-extract.1.out"
                     *             },
                     *             {
                     *               "name": "load",
                     *               "status": "failed",
                     *               "reason": "exit",
                     *               "error": "exit 3",
                     *               "attempts": 1,
                     *               "exitCode": 3,
                     *               "signal": null,
                     *               "startedAt": "2026-03-01T03:00:00.642Z",
                     *               "finishedAt": "2026-03-01T03:00:01.085Z",
                     *               "durationMs": 443,
                     *               "outputs": {},
                     *               "log": "/srv/wf/runs/019c8f5a-2b1e-7c40-9d0f-3f1c6a7be112/logs/00002-load.1.out"
                     *             }
                     *           ],
                     *           "handlers": [],
                     *           "warnings": []
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["RunPage"];
                };
            };
            /** @description Bad Request. The request makes no sense; the message says why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Unauthorized. There is no login, or a wrong one. */
            401: {
                headers: {
                    /** @description What is asked for. */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden. A page of another site asks. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not Found. There is no such workflow. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Timeout. The request took too long to come. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Conflict. The name is that of several workflows. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Payload Too Large. The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Misdirected Request. The server is not called by that name. */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too Many Requests. There were too many wrong logins. */
            429: {
                headers: {
                    /** @description Seconds to wait. */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Header Fields Too Large. There are too many headers, or they are too long. */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Internal Server Error. The disk refuses, or there is a bug; the log of the daemon tells more. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable. There are too many connections, or the daemon has no descriptors, processes or memory left. */
            503: {
                headers: {
                    /** @description Seconds to wait. */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Insufficient Storage. The disk is full. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    startRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The `id` of a workflow: the name of its file, with or without extension. Where two files share it, the group comes before it, with the slash encoded: `ops%2Fnightly`.
                 * @example etl
                 */
                name: string;
            };
            cookie?: never;
        };
        /** @description Nothing at all starts the workflow with the defaults of its file. */
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "params": {
                 *         "DAY": "2026-03-01"
                 *       },
                 *       "runId": "etl-2026-03-01"
                 *     }
                 */
                "application/json": components["schemas"]["StartRequest"];
                "application/x-www-form-urlencoded": components["schemas"]["StartRequest"];
                "multipart/form-data": components["schemas"]["StartRequest"];
            };
        };
        responses: {
            /** @description There is a run of that id already: a start of the same workflow. Its parameters are not compared. */
            200: {
                headers: {
                    /** @description Where the run is. */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "runId": "019c8f5a-2b1e-7c40-9d0f-3f1c6a7be112",
                     *       "workflow": "etl",
                     *       "group": "",
                     *       "file": "/srv/wf/dags/etl.yaml",
                     *       "status": "failed",
                     *       "reason": "step",
                     *       "error": "step \"load\" failed: exit 3",
                     *       "trigger": "api",
                     *       "retryOf": null,
                     *       "params": [
                     *         {
                     *           "name": "DAY",
                     *           "value": "2026-03-01"
                     *         }
                     *       ],
                     *       "owner": {
                     *         "pid": 4711,
                     *         "host": "build"
                     *       },
                     *       "createdAt": "2026-03-01T03:00:00.104Z",
                     *       "startedAt": "2026-03-01T03:00:00.231Z",
                     *       "finishedAt": "2026-03-01T03:00:01.090Z",
                     *       "durationMs": 859,
                     *       "steps": [
                     *         {
                     *           "name": "extract",
                     *           "status": "succeeded",
                     *           "reason": null,
                     *           "error": null,
                     *           "attempts": 1,
                     *           "exitCode": 0,
                     *           "signal": null,
                     *           "startedAt": "2026-03-01T03:00:00.233Z",
                     *           "finishedAt": "2026-03-01T03:00:00.640Z",
                     *           "durationMs": 407,
                     *           "outputs": {
                     *             "ROWS": "42"
                     *           },
                     *           "log": "/srv/wf/runs/019c8f5a-2b1e-7c40-9d0f-3f1c6a7be112/logs/00001-extract.1.out"
                     *         },
                     *         {
                     *           "name": "load",
                     *           "status": "failed",
                     *           "reason": "exit",
                     *           "error": "exit 3",
                     *           "attempts": 1,
                     *           "exitCode": 3,
                     *           "signal": null,
                     *           "startedAt": "2026-03-01T03:00:00.642Z",
                     *           "finishedAt": "2026-03-01T03:00:01.085Z",
                     *           "durationMs": 443,
                     *           "outputs": {},
                     *           "log": "/srv/wf/runs/019c8f5a-2b1e-7c40-9d0f-3f1c6a7be112/logs/00002-load.1.out"
                     *         }
                     *       ],
                     *       "handlers": [],
                     *       "warnings": []
                     *     }
                     */
                    "application/json": components["schemas"]["RunSummary"];
                };
            };
            /** @description The run is accepted and on the disk. */
            201: {
                headers: {
                    /** @description Where the run is. */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "runId": "019c8f5a-2b1e-7c40-9d0f-3f1c6a7be112",
                     *       "workflow": "etl",
                     *       "group": "",
                     *       "file": "/srv/wf/dags/etl.yaml",
                     *       "status": "failed",
                     *       "reason": "step",
                     *       "error": "step \"load\" failed: exit 3",
                     *       "trigger": "api",
                     *       "retryOf": null,
                     *       "params": [
                     *         {
                     *           "name": "DAY",
                     *           "value": "2026-03-01"
                     *         }
                     *       ],
                     *       "owner": {
                     *         "pid": 4711,
                     *         "host": "build"
                     *       },
                     *       "createdAt": "2026-03-01T03:00:00.104Z",
                     *       "startedAt": "2026-03-01T03:00:00.231Z",
                     *       "finishedAt": "2026-03-01T03:00:01.090Z",
                     *       "durationMs": 859,
                     *       "steps": [
                     *         {
                     *           "name": "extract",
                     *           "status": "succeeded",
                     *           "reason": null,
                     *           "error": null,
                     *           "attempts": 1,
                     *           "exitCode": 0,
                     *           "signal": null,
                     *           "startedAt": "2026-03-01T03:00:00.233Z",
                     *           "finishedAt": "2026-03-01T03:00:00.640Z",
                     *           "durationMs": 407,
                     *           "outputs": {
                     *             "ROWS": "42"
                     *           },
                     *           "log": "/srv/wf/runs/019c8f5a-2b1e-7c40-9d0f-3f1c6a7be112/logs/00001-extract.1.out"
                     *         },
                     *         {
                     *           "name": "load",
                     *           "status": "failed",
                     *           "reason": "exit",
                     *           "error": "exit 3",
                     *           "attempts": 1,
                     *           "exitCode": 3,
                     *           "signal": null,
                     *           "startedAt": "2026-03-01T03:00:00.642Z",
                     *           "finishedAt": "2026-03-01T03:00:01.085Z",
                     *           "durationMs": 443,
                     *           "outputs": {},
                     *           "log": "/srv/wf/runs/019c8f5a-2b1e-7c40-9d0f-3f1c6a7be112/logs/00002-load.1.out"
                     *         }
                     *       ],
                     *       "handlers": [],
                     *       "warnings": []
                     *     }
                     */
                    "application/json": components["schemas"]["RunSummary"];
                };
            };
            /** @description Bad Request. The request makes no sense; the message says why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Unauthorized. There is no login, or a wrong one. */
            401: {
                headers: {
                    /** @description What is asked for. */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden. The login allows looking only, or a page of another site asks. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not Found. There is no such workflow. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Timeout. The request took too long to come. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Conflict. The name is that of several workflows, or the id that of a run of another one, or of a retry. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Payload Too Large. The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unsupported Media Type. The body is of a kind that is not taken here. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Misdirected Request. The server is not called by that name. */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unprocessable Entity. The workflow has errors, which `diagnostics` tells. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too Many Requests. Too many runs wait already, or there were too many wrong logins. */
            429: {
                headers: {
                    /** @description Seconds to wait. */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Header Fields Too Large. There are too many headers, or they are too long. */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Internal Server Error. The disk refuses, or there is a bug; the log of the daemon tells more. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable. There are too many connections, or the daemon has no descriptors, processes or memory left. */
            503: {
                headers: {
                    /** @description Seconds to wait. */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Insufficient Storage. The disk is full. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    validate: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description The text of a workflow file. */
        requestBody?: {
            content: {
                /**
                 * @example steps:
                 *       - name: one
                 *         comand: echo one
                 */
                "text/plain": string;
                /**
                 * @example steps:
                 *       - name: one
                 *         comand: echo one
                 */
                "text/yaml": string;
                /**
                 * @example steps:
                 *       - name: one
                 *         comand: echo one
                 */
                "application/yaml": string;
                /**
                 * @example steps:
                 *       - name: one
                 *         comand: echo one
                 */
                "application/x-yaml": string;
            };
        };
        responses: {
            /** @description Every problem of the text, as `wf validate --json` prints them. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "files": [
                     *         {
                     *           "file": "-",
                     *           "valid": false,
                     *           "diagnostics": [
                     *             {
                     *               "severity": "error",
                     *               "code": "unknown-key",
                     *               "message": "unknown key \"comand\"",
                     *               "file": "-",
                     *               "line": 3,
                     *               "column": 5,
                     *               "endLine": 3,
                     *               "endColumn": 11,
                     *               "help": "did you mean \"command\"?"
                     *             }
                     *           ]
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": {
                        /** @description One entry. */
                        files: {
                            /** @description "-": the text. */
                            file: string;
                            /** @description Whether it can be run; warnings do not count. */
                            valid: boolean;
                            /** @description In the order of their places. */
                            diagnostics: components["schemas"]["Diagnostic"][];
                        }[];
                    };
                };
            };
            /** @description Bad Request. The request makes no sense; the message says why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Unauthorized. There is no login, or a wrong one. */
            401: {
                headers: {
                    /** @description What is asked for. */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden. The login allows looking only, or a page of another site asks. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Timeout. The request took too long to come. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Payload Too Large. The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unsupported Media Type. The body is of a kind that is not taken here. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Misdirected Request. The server is not called by that name. */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too Many Requests. There were too many wrong logins. */
            429: {
                headers: {
                    /** @description Seconds to wait. */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Header Fields Too Large. There are too many headers, or they are too long. */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Internal Server Error. The disk refuses, or there is a bug; the log of the daemon tells more. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable. There are too many connections, or the daemon has no descriptors, processes or memory left. */
            503: {
                headers: {
                    /** @description Seconds to wait. */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Insufficient Storage. The disk is full. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listRuns: {
        parameters: {
            query?: {
                /**
                 * @description Only those of a workflow, by its name or its file, also one that is gone.
                 * @example etl
                 */
                workflow?: string;
                /**
                 * @description Only those of one of these statuses, separated by commas.
                 * @example failed,canceled
                 */
                status?: string;
                /** @description Only those that were made at that moment or later: `2026-03-01T12:00:00Z`, or a day. */
                from?: string;
                /** @description Only those that were made at that moment or earlier; a day is meant from its start. */
                to?: string;
                /** @description How many at most. */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of runs. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "runs": [
                     *         {
                     *           "runId": "019c8f5a-2b1e-7c40-9d0f-3f1c6a7be112",
                     *           "workflow": "etl",
                     *           "group": "",
                     *           "file": "/srv/wf/dags/etl.yaml",
                     *           "status": "failed",
                     *           "reason": "step",
                     *           "error": "step \"load\" failed: exit 3",
                     *           "trigger": "api",
                     *           "retryOf": null,
                     *           "params": [
                     *             {
                     *               "name": "DAY",
                     *               "value": "2026-03-01"
                     *             }
                     *           ],
                     *           "owner": {
                     *             "pid": 4711,
                     *             "host": "build"
                     *           },
                     *           "createdAt": "2026-03-01T03:00:00.104Z",
                     *           "startedAt": "2026-03-01T03:00:00.231Z",
                     *           "finishedAt": "2026-03-01T03:00:01.090Z",
                     *           "durationMs": 859,
                     *           "steps": [
                     *             {
                     *               "name": "extract",
                     *               "status": "succeeded",
                     *               "reason": null,
                     *               "error": null,
                     *               "attempts": 1,
                     *               "exitCode": 0,
                     *               "signal": null,
                     *               "startedAt": "2026-03-01T03:00:00.233Z",
                     *               "finishedAt": "2026-03-01T03:00:00.640Z",
                     *               "durationMs": 407,
                     *               "outputs": {
                     *                 "ROWS": "42"
                     *               },
                     *               "log": "/srv/wf/runs/019c8f5a-2b1e-7c40-9d0f-3f1c6a7be112/logs/00001-extract.1.out"
                     *             },
                     *             {
                     *               "name": "load",
                     *               "status": "failed",
                     *               "reason": "exit",
                     *               "error": "exit 3",
                     *               "attempts": 1,
                     *               "exitCode": 3,
                     *               "signal": null,
                     *               "startedAt": "2026-03-01T03:00:00.642Z",
                     *               "finishedAt": "2026-03-01T03:00:01.085Z",
                     *               "durationMs": 443,
                     *               "outputs": {},
                     *               "log": "/srv/wf/runs/019c8f5a-2b1e-7c40-9d0f-3f1c6a7be112/logs/00002-load.1.out"
                     *             }
                     *           ],
                     *           "handlers": [],
                     *           "warnings": []
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["RunPage"];
                };
            };
            /** @description Bad Request. The request makes no sense; the message says why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Unauthorized. There is no login, or a wrong one. */
            401: {
                headers: {
                    /** @description What is asked for. */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden. A page of another site asks. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Timeout. The request took too long to come. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Payload Too Large. The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Misdirected Request. The server is not called by that name. */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too Many Requests. There were too many wrong logins. */
            429: {
                headers: {
                    /** @description Seconds to wait. */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Header Fields Too Large. There are too many headers, or they are too long. */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Internal Server Error. The disk refuses, or there is a bug; the log of the daemon tells more. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable. There are too many connections, or the daemon has no descriptors, processes or memory left. */
            503: {
                headers: {
                    /** @description Seconds to wait. */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Insufficient Storage. The disk is full. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    showRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id of a run, a beginning of it that no other has, or `@latest` or `@failed`.
                 * @example @latest
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The run as it is at the moment. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "runId": "019c8f5a-2b1e-7c40-9d0f-3f1c6a7be112",
                     *       "workflow": "etl",
                     *       "group": "",
                     *       "file": "/srv/wf/dags/etl.yaml",
                     *       "status": "failed",
                     *       "reason": "step",
                     *       "error": "step \"load\" failed: exit 3",
                     *       "trigger": "api",
                     *       "retryOf": null,
                     *       "params": [
                     *         {
                     *           "name": "DAY",
                     *           "value": "2026-03-01"
                     *         }
                     *       ],
                     *       "owner": {
                     *         "pid": 4711,
                     *         "host": "build"
                     *       },
                     *       "createdAt": "2026-03-01T03:00:00.104Z",
                     *       "startedAt": "2026-03-01T03:00:00.231Z",
                     *       "finishedAt": "2026-03-01T03:00:01.090Z",
                     *       "durationMs": 859,
                     *       "steps": [
                     *         {
                     *           "name": "extract",
                     *           "status": "succeeded",
                     *           "reason": null,
                     *           "error": null,
                     *           "attempts": 1,
                     *           "exitCode": 0,
                     *           "signal": null,
                     *           "startedAt": "2026-03-01T03:00:00.233Z",
                     *           "finishedAt": "2026-03-01T03:00:00.640Z",
                     *           "durationMs": 407,
                     *           "outputs": {
                     *             "ROWS": "42"
                     *           },
                     *           "log": "/srv/wf/runs/019c8f5a-2b1e-7c40-9d0f-3f1c6a7be112/logs/00001-extract.1.out"
                     *         },
                     *         {
                     *           "name": "load",
                     *           "status": "failed",
                     *           "reason": "exit",
                     *           "error": "exit 3",
                     *           "attempts": 1,
                     *           "exitCode": 3,
                     *           "signal": null,
                     *           "startedAt": "2026-03-01T03:00:00.642Z",
                     *           "finishedAt": "2026-03-01T03:00:01.085Z",
                     *           "durationMs": 443,
                     *           "outputs": {},
                     *           "log": "/srv/wf/runs/019c8f5a-2b1e-7c40-9d0f-3f1c6a7be112/logs/00002-load.1.out"
                     *         }
                     *       ],
                     *       "handlers": [],
                     *       "warnings": []
                     *     }
                     */
                    "application/json": components["schemas"]["RunSummary"];
                };
            };
            /** @description Bad Request. The request makes no sense; the message says why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Unauthorized. There is no login, or a wrong one. */
            401: {
                headers: {
                    /** @description What is asked for. */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden. A page of another site asks. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not Found. There is no such run. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Timeout. The request took too long to come. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Payload Too Large. The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Misdirected Request. The server is not called by that name. */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too Many Requests. There were too many wrong logins. */
            429: {
                headers: {
                    /** @description Seconds to wait. */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Header Fields Too Large. There are too many headers, or they are too long. */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Internal Server Error. The disk refuses, or there is a bug; the log of the daemon tells more. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable. There are too many connections, or the daemon has no descriptors, processes or memory left. */
            503: {
                headers: {
                    /** @description Seconds to wait. */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Insufficient Storage. The disk is full. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    stopRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id of a run, a beginning of it that no other has, or `@latest` or `@failed`.
                 * @example @latest
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The run waited, and is canceled. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunSummary"];
                };
            };
            /** @description The run was told to stop. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "runId": "019c8f5a-2b1e-7c40-9d0f-3f1c6a7be112",
                     *       "workflow": "etl",
                     *       "group": "",
                     *       "file": "/srv/wf/dags/etl.yaml",
                     *       "status": "canceling",
                     *       "reason": "step",
                     *       "error": "step \"load\" failed: exit 3",
                     *       "trigger": "api",
                     *       "retryOf": null,
                     *       "params": [
                     *         {
                     *           "name": "DAY",
                     *           "value": "2026-03-01"
                     *         }
                     *       ],
                     *       "owner": {
                     *         "pid": 4711,
                     *         "host": "build"
                     *       },
                     *       "createdAt": "2026-03-01T03:00:00.104Z",
                     *       "startedAt": "2026-03-01T03:00:00.231Z",
                     *       "finishedAt": "2026-03-01T03:00:01.090Z",
                     *       "durationMs": 859,
                     *       "steps": [
                     *         {
                     *           "name": "extract",
                     *           "status": "succeeded",
                     *           "reason": null,
                     *           "error": null,
                     *           "attempts": 1,
                     *           "exitCode": 0,
                     *           "signal": null,
                     *           "startedAt": "2026-03-01T03:00:00.233Z",
                     *           "finishedAt": "2026-03-01T03:00:00.640Z",
                     *           "durationMs": 407,
                     *           "outputs": {
                     *             "ROWS": "42"
                     *           },
                     *           "log": "/srv/wf/runs/019c8f5a-2b1e-7c40-9d0f-3f1c6a7be112/logs/00001-extract.1.out"
                     *         },
                     *         {
                     *           "name": "load",
                     *           "status": "failed",
                     *           "reason": "exit",
                     *           "error": "exit 3",
                     *           "attempts": 1,
                     *           "exitCode": 3,
                     *           "signal": null,
                     *           "startedAt": "2026-03-01T03:00:00.642Z",
                     *           "finishedAt": "2026-03-01T03:00:01.085Z",
                     *           "durationMs": 443,
                     *           "outputs": {},
                     *           "log": "/srv/wf/runs/019c8f5a-2b1e-7c40-9d0f-3f1c6a7be112/logs/00002-load.1.out"
                     *         }
                     *       ],
                     *       "handlers": [],
                     *       "warnings": []
                     *     }
                     */
                    "application/json": components["schemas"]["RunSummary"];
                };
            };
            /** @description Bad Request. The request makes no sense; the message says why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Unauthorized. There is no login, or a wrong one. */
            401: {
                headers: {
                    /** @description What is asked for. */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden. The login allows looking only, or a page of another site asks. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not Found. There is no such run. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Timeout. The request took too long to come. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Conflict. The run has ended already. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Payload Too Large. The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Misdirected Request. The server is not called by that name. */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too Many Requests. There were too many wrong logins. */
            429: {
                headers: {
                    /** @description Seconds to wait. */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Header Fields Too Large. There are too many headers, or they are too long. */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Internal Server Error. The disk refuses, or there is a bug; the log of the daemon tells more. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable. There are too many connections, or the daemon has no descriptors, processes or memory left. */
            503: {
                headers: {
                    /** @description Seconds to wait. */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Insufficient Storage. The disk is full. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    retryRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id of a run, a beginning of it that no other has, or `@latest` or `@failed`.
                 * @example @latest
                 */
                id: string;
            };
            cookie?: never;
        };
        /** @description Nothing at all runs what did not succeed, and what comes after it. */
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "from": "load",
                 *       "params": [
                 *         "DAY=2026-03-02"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["RetryRequest"];
                "application/x-www-form-urlencoded": components["schemas"]["RetryRequest"];
                "multipart/form-data": components["schemas"]["RetryRequest"];
            };
        };
        responses: {
            /** @description There is a run of that id already: a retry of the same run. Its steps and parameters are not compared. */
            200: {
                headers: {
                    /** @description Where the run is. */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "runId": "019c8f5a-2b1e-7c40-9d0f-3f1c6a7be112",
                     *       "workflow": "etl",
                     *       "group": "",
                     *       "file": "/srv/wf/dags/etl.yaml",
                     *       "status": "failed",
                     *       "reason": "step",
                     *       "error": "step \"load\" failed: exit 3",
                     *       "trigger": "api",
                     *       "retryOf": null,
                     *       "params": [
                     *         {
                     *           "name": "DAY",
                     *           "value": "2026-03-01"
                     *         }
                     *       ],
                     *       "owner": {
                     *         "pid": 4711,
                     *         "host": "build"
                     *       },
                     *       "createdAt": "2026-03-01T03:00:00.104Z",
                     *       "startedAt": "2026-03-01T03:00:00.231Z",
                     *       "finishedAt": "2026-03-01T03:00:01.090Z",
                     *       "durationMs": 859,
                     *       "steps": [
                     *         {
                     *           "name": "extract",
                     *           "status": "succeeded",
                     *           "reason": null,
                     *           "error": null,
                     *           "attempts": 1,
                     *           "exitCode": 0,
                     *           "signal": null,
                     *           "startedAt": "2026-03-01T03:00:00.233Z",
                     *           "finishedAt": "2026-03-01T03:00:00.640Z",
                     *           "durationMs": 407,
                     *           "outputs": {
                     *             "ROWS": "42"
                     *           },
                     *           "log": "/srv/wf/runs/019c8f5a-2b1e-7c40-9d0f-3f1c6a7be112/logs/00001-extract.1.out"
                     *         },
                     *         {
                     *           "name": "load",
                     *           "status": "failed",
                     *           "reason": "exit",
                     *           "error": "exit 3",
                     *           "attempts": 1,
                     *           "exitCode": 3,
                     *           "signal": null,
                     *           "startedAt": "2026-03-01T03:00:00.642Z",
                     *           "finishedAt": "2026-03-01T03:00:01.085Z",
                     *           "durationMs": 443,
                     *           "outputs": {},
                     *           "log": "/srv/wf/runs/019c8f5a-2b1e-7c40-9d0f-3f1c6a7be112/logs/00002-load.1.out"
                     *         }
                     *       ],
                     *       "handlers": [],
                     *       "warnings": []
                     *     }
                     */
                    "application/json": components["schemas"]["RunSummary"];
                };
            };
            /** @description The run is accepted and on the disk. */
            201: {
                headers: {
                    /** @description Where the run is. */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "runId": "019c8f5a-2b1e-7c40-9d0f-3f1c6a7be112",
                     *       "workflow": "etl",
                     *       "group": "",
                     *       "file": "/srv/wf/dags/etl.yaml",
                     *       "status": "failed",
                     *       "reason": "step",
                     *       "error": "step \"load\" failed: exit 3",
                     *       "trigger": "api",
                     *       "retryOf": null,
                     *       "params": [
                     *         {
                     *           "name": "DAY",
                     *           "value": "2026-03-01"
                     *         }
                     *       ],
                     *       "owner": {
                     *         "pid": 4711,
                     *         "host": "build"
                     *       },
                     *       "createdAt": "2026-03-01T03:00:00.104Z",
                     *       "startedAt": "2026-03-01T03:00:00.231Z",
                     *       "finishedAt": "2026-03-01T03:00:01.090Z",
                     *       "durationMs": 859,
                     *       "steps": [
                     *         {
                     *           "name": "extract",
                     *           "status": "succeeded",
                     *           "reason": null,
                     *           "error": null,
                     *           "attempts": 1,
                     *           "exitCode": 0,
                     *           "signal": null,
                     *           "startedAt": "2026-03-01T03:00:00.233Z",
                     *           "finishedAt": "2026-03-01T03:00:00.640Z",
                     *           "durationMs": 407,
                     *           "outputs": {
                     *             "ROWS": "42"
                     *           },
                     *           "log": "/srv/wf/runs/019c8f5a-2b1e-7c40-9d0f-3f1c6a7be112/logs/00001-extract.1.out"
                     *         },
                     *         {
                     *           "name": "load",
                     *           "status": "failed",
                     *           "reason": "exit",
                     *           "error": "exit 3",
                     *           "attempts": 1,
                     *           "exitCode": 3,
                     *           "signal": null,
                     *           "startedAt": "2026-03-01T03:00:00.642Z",
                     *           "finishedAt": "2026-03-01T03:00:01.085Z",
                     *           "durationMs": 443,
                     *           "outputs": {},
                     *           "log": "/srv/wf/runs/019c8f5a-2b1e-7c40-9d0f-3f1c6a7be112/logs/00002-load.1.out"
                     *         }
                     *       ],
                     *       "handlers": [],
                     *       "warnings": []
                     *     }
                     */
                    "application/json": components["schemas"]["RunSummary"];
                };
            };
            /** @description Bad Request. The request makes no sense; the message says why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Unauthorized. There is no login, or a wrong one. */
            401: {
                headers: {
                    /** @description What is asked for. */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden. The login allows looking only, or a page of another site asks. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not Found. There is no such run, or no such step. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Timeout. The request took too long to come. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Conflict. The run is still going, every step has succeeded, or there is another run of that id. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Payload Too Large. The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unsupported Media Type. The body is of a kind that is not taken here. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Misdirected Request. The server is not called by that name. */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unprocessable Entity. The workflow has errors, which `diagnostics` tells. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too Many Requests. Too many runs wait already, or there were too many wrong logins. */
            429: {
                headers: {
                    /** @description Seconds to wait. */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Header Fields Too Large. There are too many headers, or they are too long. */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Internal Server Error. The disk refuses, or there is a bug; the log of the daemon tells more. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable. There are too many connections, or the daemon has no descriptors, processes or memory left. */
            503: {
                headers: {
                    /** @description Seconds to wait. */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Insufficient Storage. The disk is full. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    markStep: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id of a run, a beginning of it that no other has, or `@latest` or `@failed`.
                 * @example @latest
                 */
                id: string;
                /**
                 * @description The name of a step. Handlers cannot be marked.
                 * @example load
                 */
                step: string;
            };
            cookie?: never;
        };
        /** @description How the step counts. */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "status": "succeeded"
                 *     }
                 */
                "application/json": components["schemas"]["MarkRequest"];
                "application/x-www-form-urlencoded": components["schemas"]["MarkRequest"];
                "multipart/form-data": components["schemas"]["MarkRequest"];
            };
        };
        responses: {
            /** @description The run as it counts now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "runId": "019c8f5a-2b1e-7c40-9d0f-3f1c6a7be112",
                     *       "workflow": "etl",
                     *       "group": "",
                     *       "file": "/srv/wf/dags/etl.yaml",
                     *       "status": "failed",
                     *       "reason": "step",
                     *       "error": "step \"load\" failed: exit 3",
                     *       "trigger": "api",
                     *       "retryOf": null,
                     *       "params": [
                     *         {
                     *           "name": "DAY",
                     *           "value": "2026-03-01"
                     *         }
                     *       ],
                     *       "owner": {
                     *         "pid": 4711,
                     *         "host": "build"
                     *       },
                     *       "createdAt": "2026-03-01T03:00:00.104Z",
                     *       "startedAt": "2026-03-01T03:00:00.231Z",
                     *       "finishedAt": "2026-03-01T03:00:01.090Z",
                     *       "durationMs": 859,
                     *       "steps": [
                     *         {
                     *           "name": "extract",
                     *           "status": "succeeded",
                     *           "reason": null,
                     *           "error": null,
                     *           "attempts": 1,
                     *           "exitCode": 0,
                     *           "signal": null,
                     *           "startedAt": "2026-03-01T03:00:00.233Z",
                     *           "finishedAt": "2026-03-01T03:00:00.640Z",
                     *           "durationMs": 407,
                     *           "outputs": {
                     *             "ROWS": "42"
                     *           },
                     *           "log": "/srv/wf/runs/019c8f5a-2b1e-7c40-9d0f-3f1c6a7be112/logs/00001-extract.1.out"
                     *         },
                     *         {
                     *           "name": "load",
                     *           "status": "failed",
                     *           "reason": "exit",
                     *           "error": "exit 3",
                     *           "attempts": 1,
                     *           "exitCode": 3,
                     *           "signal": null,
                     *           "startedAt": "2026-03-01T03:00:00.642Z",
                     *           "finishedAt": "2026-03-01T03:00:01.085Z",
                     *           "durationMs": 443,
                     *           "outputs": {},
                     *           "log": "/srv/wf/runs/019c8f5a-2b1e-7c40-9d0f-3f1c6a7be112/logs/00002-load.1.out"
                     *         }
                     *       ],
                     *       "handlers": [],
                     *       "warnings": []
                     *     }
                     */
                    "application/json": components["schemas"]["RunSummary"];
                };
            };
            /** @description Bad Request. The request makes no sense; the message says why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Unauthorized. There is no login, or a wrong one. */
            401: {
                headers: {
                    /** @description What is asked for. */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden. The login allows looking only, or a page of another site asks. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not Found. There is no such run, or no such step. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Timeout. The request took too long to come. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Conflict. The run is still going. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Payload Too Large. The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Unsupported Media Type. The body is of a kind that is not taken here. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Misdirected Request. The server is not called by that name. */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too Many Requests. There were too many wrong logins. */
            429: {
                headers: {
                    /** @description Seconds to wait. */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Header Fields Too Large. There are too many headers, or they are too long. */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Internal Server Error. The disk refuses, or there is a bug; the log of the daemon tells more. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable. There are too many connections, or the daemon has no descriptors, processes or memory left. */
            503: {
                headers: {
                    /** @description Seconds to wait. */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Insufficient Storage. The disk is full. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    followEvents: {
        parameters: {
            query?: {
                /** @description Only events behind that `id`. */
                after?: number;
                /** @description False: only what has happened, without an event `end`. */
                follow?: boolean;
                /** @description True: between the events stands what the steps print, each attempt whole before its end, as events `output` without `id`: `{step, attempt, stream, offset, bytes}`, where `bytes` are in base64 and `offset` is where they stand in that stream. */
                output?: boolean;
                /** @description With `output`: only of this step or handler. */
                step?: string;
                /** @description With `output`, for who comes back: `[["load", 1, 4096, 0]]`, the bytes of both streams that are known of attempts under way. Without it these begin at their start. */
                offsets?: string;
            };
            header?: {
                /** @description The same, as an `EventSource` says it when it comes back; it goes before `after`. */
                "Last-Event-ID"?: string;
            };
            path: {
                /**
                 * @description The id of a run, a beginning of it that no other has, or `@latest` or `@failed`.
                 * @example @latest
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The events. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example retry: 1000
                     *
                     *     id: 9
                     *     event: step.finished
                     *     data: {"type":"step.finished","runId":"019c8f5a-2b1e-7c40-9d0f-3f1c6a7be112","at":"2026-03-01T03:00:01.085Z","step":"load","attempt":1,"status":"failed","reason":"exit","message":"exit 3","exitCode":3,"signal":null,"outputs":{},"seq":9}
                     *
                     *     id: 10
                     *     event: run.finished
                     *     data: {"type":"run.finished","runId":"019c8f5a-2b1e-7c40-9d0f-3f1c6a7be112","at":"2026-03-01T03:00:01.090Z","status":"failed","reason":"step","message":"step \"load\" failed: exit 3","seq":10}
                     *
                     *     event: end
                     *     data: {"runId":"019c8f5a-2b1e-7c40-9d0f-3f1c6a7be112"}
                     */
                    "text/event-stream": string;
                };
            };
            /** @description The run is over, and there is no further event. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Bad Request. The request makes no sense; the message says why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Unauthorized. There is no login, or a wrong one. */
            401: {
                headers: {
                    /** @description What is asked for. */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden. A page of another site asks. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not Found. There is no such run. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Timeout. The request took too long to come. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Payload Too Large. The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Misdirected Request. The server is not called by that name. */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too Many Requests. There were too many wrong logins. */
            429: {
                headers: {
                    /** @description Seconds to wait. */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Header Fields Too Large. There are too many headers, or they are too long. */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Internal Server Error. The disk refuses, or there is a bug; the log of the daemon tells more. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable. There are too many connections, or the daemon has no descriptors, processes or memory left. */
            503: {
                headers: {
                    /** @description Seconds to wait. */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Insufficient Storage. The disk is full. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    runLogs: {
        parameters: {
            query?: {
                /**
                 * @description Only this step or handler.
                 * @example load
                 */
                step?: string;
                /** @description Only that attempt at each step. */
                attempt?: number;
                /** @description Only this stream. */
                stream?: "stdout" | "stderr";
                /** @description Only the last so many lines. */
                tail?: number;
                /** @description Goes on with what comes until the run is over. */
                follow?: boolean;
                /** @description Text, or one JSON object a line: `Accept: application/x-ndjson` asks for the latter, too. */
                format?: "text" | "json";
            };
            header?: never;
            path: {
                /**
                 * @description The id of a run, a beginning of it that no other has, or `@latest` or `@failed`.
                 * @example @latest
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The lines. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [extract] 42 rows
                     *     [load] loaded
                     */
                    "text/plain": string;
                    /** @example {"step":"extract","attempt":1,"stream":"stdout","text":"42 rows"} */
                    "application/x-ndjson": string;
                };
            };
            /** @description Bad Request. The request makes no sense; the message says why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Unauthorized. There is no login, or a wrong one. */
            401: {
                headers: {
                    /** @description What is asked for. */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden. A page of another site asks. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not Found. There is no such run, step or attempt. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Timeout. The request took too long to come. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Payload Too Large. The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Misdirected Request. The server is not called by that name. */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too Many Requests. There were too many wrong logins. */
            429: {
                headers: {
                    /** @description Seconds to wait. */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Header Fields Too Large. There are too many headers, or they are too long. */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Internal Server Error. The disk refuses, or there is a bug; the log of the daemon tells more. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable. There are too many connections, or the daemon has no descriptors, processes or memory left. */
            503: {
                headers: {
                    /** @description Seconds to wait. */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Insufficient Storage. The disk is full. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    stepLog: {
        parameters: {
            query?: {
                /** @description That attempt instead of the last one. */
                attempt?: number;
                /** @description Which stream. */
                stream?: "stdout" | "stderr";
                /** @description How many bytes to leave out. */
                offset?: number;
                /** @description Goes on with what comes; `Range` does not count then. */
                follow?: boolean;
                /** @description Has a browser save it as a file. */
                download?: boolean;
            };
            header?: {
                /**
                 * @description One range of bytes: `bytes=0-1023`, `bytes=1024-`, `bytes=-1024`.
                 * @example bytes=0-1023
                 */
                Range?: string;
            };
            path: {
                /**
                 * @description The id of a run, a beginning of it that no other has, or `@latest` or `@failed`.
                 * @example @latest
                 */
                id: string;
                /**
                 * @description The name of a step; a handler has the name `handlerOn.failure`.
                 * @example load
                 */
                step: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All of it. */
            200: {
                headers: {
                    /** @description `bytes`. */
                    "Accept-Ranges"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /** @example 42 rows */
                    "text/plain": string;
                };
            };
            /** @description The bytes that were asked for. */
            206: {
                headers: {
                    /** @description Which bytes, of how many: `bytes 0-1023/4096`. */
                    "Content-Range"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /** @example 42 rows */
                    "text/plain": string;
                };
            };
            /** @description Bad Request. The request makes no sense; the message says why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Unauthorized. There is no login, or a wrong one. */
            401: {
                headers: {
                    /** @description What is asked for. */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden. A page of another site asks. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not Found. There is no such run, step or attempt. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Timeout. The request took too long to come. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Payload Too Large. The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Range Not Satisfiable. There are no such bytes; `Content-Range` tells how many there are. */
            416: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Misdirected Request. The server is not called by that name. */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too Many Requests. There were too many wrong logins. */
            429: {
                headers: {
                    /** @description Seconds to wait. */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Header Fields Too Large. There are too many headers, or they are too long. */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Internal Server Error. The disk refuses, or there is a bug; the log of the daemon tells more. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable. There are too many connections, or the daemon has no descriptors, processes or memory left. */
            503: {
                headers: {
                    /** @description Seconds to wait. */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Insufficient Storage. The disk is full. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    health: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It can. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "ok",
                     *       "eventLoopLagMs": {
                     *         "mean": 0.1,
                     *         "p99": 1.2,
                     *         "max": 3
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @constant */
                        status: "ok";
                        /** @description How late the daemon came to what was due, in milliseconds, over the last seconds. */
                        eventLoopLagMs: {
                            mean: number;
                            p99: number;
                            max: number;
                        };
                    };
                };
            };
            /** @description Bad Request. The request makes no sense; the message says why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Forbidden. A page of another site asks. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Timeout. The request took too long to come. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Payload Too Large. The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Misdirected Request. The server is not called by that name. */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Header Fields Too Large. There are too many headers, or they are too long. */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Internal Server Error. The disk refuses, or there is a bug; the log of the daemon tells more. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable. There are too many connections, or the daemon has no descriptors, processes or memory left. */
            503: {
                headers: {
                    /** @description Seconds to wait. */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Insufficient Storage. The disk is full. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    metrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The numbers. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example wf_runs_active 1 */
                    "text/plain": string;
                };
            };
            /** @description Bad Request. The request makes no sense; the message says why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Unauthorized. There is no login, or a wrong one. */
            401: {
                headers: {
                    /** @description What is asked for. */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden. A page of another site asks. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Timeout. The request took too long to come. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Payload Too Large. The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Misdirected Request. The server is not called by that name. */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too Many Requests. There were too many wrong logins. */
            429: {
                headers: {
                    /** @description Seconds to wait. */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Header Fields Too Large. There are too many headers, or they are too long. */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Internal Server Error. The disk refuses, or there is a bug; the log of the daemon tells more. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable. There are too many connections, or the daemon has no descriptors, processes or memory left. */
            503: {
                headers: {
                    /** @description Seconds to wait. */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Insufficient Storage. The disk is full. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    openApi: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description This document, in OpenAPI 3.1. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            /** @description Nothing has changed. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Bad Request. The request makes no sense; the message says why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Unauthorized. There is no login, or a wrong one. */
            401: {
                headers: {
                    /** @description What is asked for. */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden. A page of another site asks. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Timeout. The request took too long to come. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Payload Too Large. The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Misdirected Request. The server is not called by that name. */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too Many Requests. There were too many wrong logins. */
            429: {
                headers: {
                    /** @description Seconds to wait. */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Header Fields Too Large. There are too many headers, or they are too long. */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Internal Server Error. The disk refuses, or there is a bug; the log of the daemon tells more. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable. There are too many connections, or the daemon has no descriptors, processes or memory left. */
            503: {
                headers: {
                    /** @description Seconds to wait. */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Insufficient Storage. The disk is full. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    docs: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            /** @description Nothing has changed. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Bad Request. The request makes no sense; the message says why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Unauthorized. There is no login, or a wrong one. */
            401: {
                headers: {
                    /** @description What is asked for. */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden. A page of another site asks. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Timeout. The request took too long to come. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Payload Too Large. The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Misdirected Request. The server is not called by that name. */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too Many Requests. There were too many wrong logins. */
            429: {
                headers: {
                    /** @description Seconds to wait. */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Header Fields Too Large. There are too many headers, or they are too long. */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Internal Server Error. The disk refuses, or there is a bug; the log of the daemon tells more. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable. There are too many connections, or the daemon has no descriptors, processes or memory left. */
            503: {
                headers: {
                    /** @description Seconds to wait. */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Insufficient Storage. The disk is full. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    root: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The web page, where `Accept` prefers `text/html`. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            /** @description Nothing has changed. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The description is at `Location`. */
            307: {
                headers: {
                    /** @description `/api/docs` */
                    Location?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Bad Request. The request makes no sense; the message says why. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Unauthorized. There is no login, or a wrong one. */
            401: {
                headers: {
                    /** @description What is asked for. */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Forbidden. A page of another site asks. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Timeout. The request took too long to come. */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Payload Too Large. The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Misdirected Request. The server is not called by that name. */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too Many Requests. There were too many wrong logins. */
            429: {
                headers: {
                    /** @description Seconds to wait. */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Request Header Fields Too Large. There are too many headers, or they are too long. */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Internal Server Error. The disk refuses, or there is a bug; the log of the daemon tells more. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Service Unavailable. There are too many connections, or the daemon has no descriptors, processes or memory left. */
            503: {
                headers: {
                    /** @description Seconds to wait. */
                    "Retry-After"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                    "application/json": components["schemas"]["ErrorV1"];
                };
            };
            /** @description Insufficient Storage. The disk is full. */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
}
