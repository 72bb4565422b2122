import { accessSync, constants, statSync } from 'node:fs';
import { basename } from 'node:path';
import { failed } from '#core/run/outcome.ts';
import type { Outcome } from '#core/run/run.ts';
import type { Json, JsonObject } from '#core/workflow.ts';
import {
  type Attachment,
  addresses,
  headerText,
  type Mail,
  MailProblem,
  type MailServer,
  mailServer,
  type Sent,
  sendMail,
} from '#mail/send-mail.ts';
import { canceled, eitherEnd, isAskedToEnd } from '#processes/end-signal.ts';
import { errorCode } from '#system/errors.ts';
import { pathFrom } from '#system/files.ts';
import type { Attempt, Executor } from '../executor.ts';

/** Sends a mail through the workflow's `smtp`, and prints its recipients. */
export const executor: Executor = { run };

async function run(config: JsonObject, attempt: Attempt): Promise<Outcome> {
  if (isAskedToEnd(attempt)) return canceled;
  attempt.started(null);
  try {
    const server = mailServer(attempt.workflow.smtp, attempt.expand);
    const mail = readMail(config, server, attempt);
    print(await sendMail(server, mail, { signal: eitherEnd(attempt) }), mail, attempt);
    return { status: 'succeeded', exitCode: null, outputs: {} };
  } catch (error) {
    if (!(error instanceof MailProblem)) throw error;
    if (isAskedToEnd(attempt)) return canceled;
    return failed(error.message);
  }
}

function readMail(config: JsonObject, server: MailServer, { cwd, expand, env }: Attempt): Mail {
  const people = (key: string) => addresses(texts(config[key]), key, expand);
  const from = people('from');
  const login = server.login?.username ?? '';
  // A server whose login is a mail address sends for that address.
  const own = login.includes('@') ? addresses([login], 'smtp.username', String) : [];
  const attachments = texts(config.attachments).map(expand);
  return {
    from: from.length > 0 ? from : own,
    to: people('to'),
    cc: people('cc'),
    bcc: people('bcc'),
    subject: headerText(expand(text(config.subject)), 'subject'),
    message: expand(text(config.message)),
    attachments: attachments
      .filter((path) => path !== '')
      .map((path) => attachment(path, pathFrom(cwd, path, env['HOME']))),
  };
}

/** Checked before anything is sent, so that a missing file is reported as such. */
function attachment(name: string, path: string): Attachment {
  const problem = fileProblem(path);
  if (problem !== null) throw new MailProblem(`the attachment "${name}" ${problem} (${path})`);
  return { filename: basename(path), path };
}

function fileProblem(path: string): string | null {
  try {
    accessSync(path, constants.R_OK);
    return statSync(path).isFile() ? null : 'is not a file';
  } catch (error) {
    const isMissing = errorCode(error) === 'ENOENT';
    return isMissing ? 'does not exist' : 'cannot be read';
  }
}

function print({ messageId, accepted, refused }: Sent, { subject }: Mail, attempt: Attempt): void {
  const lines = [`Subject: ${subject}`, `Message-ID: ${messageId}`, `Accepted: ${accepted.join(', ')}`];
  attempt.write('stdout', lines.map((line) => `${line}\n`).join(''));
  for (const receiver of refused) {
    attempt.write('stdout', `Refused: ${receiver}\n`);
    attempt.write('stderr', `not sent to ${receiver}\n`);
  }
}

function texts(value: Json | undefined): readonly string[] {
  return (Array.isArray(value) ? value : [value]).map(text);
}

function text(value: Json | undefined): string {
  return value === undefined || value === null ? '' : String(value);
}
