import { randomBytes } from 'node:crypto';
import { accessSync, constants, fstatSync, openSync, readFileSync, readSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { failed } from '#core/run/outcome.ts';
import type { Outcome } from '#core/run/run.ts';
import type { Json, JsonObject } from '#core/workflow.ts';
import { canceled, EndSignal } from '#processes/end-signal.ts';
import { tryOr } from '#system/errors.ts';
import { closing, expandHome, removeIfPossible } from '#system/files.ts';
import type { Attempt, Executor } from '../executor.ts';
import { runTool, toolSettings } from '../tool.ts';
import { BOOTSTRAP, type RemoteCode, remoteCode, STOP_LINE, supervisedLine } from './code.ts';

const INSTALL = 'install the OpenSSH client (package "openssh-client")';

/** Exit code of ssh for its own failures; the remote program may use it too. */
const SSH_FAILED = 255;

/**
 * Runs the step's command or script on another machine with the system's `ssh`. A stop reaches the remote program as
 * the step's signal, and the step ends when the program has ended; a kill, a crash of this process or a lost connection
 * ends it too.
 */
export const executor: Executor = { run: runOverSsh };

async function runOverSsh(config: JsonObject, attempt: Attempt): Promise<Outcome> {
  if (attempt.signal.aborted) return canceled;
  const settings = sshSettings(config, attempt);
  if ('problem' in settings) return failed(settings.problem);
  const program = remoteCode(attempt);
  if ('problem' in program) return failed(program.problem);
  const problem = keyProblem(settings, attempt) ?? nulProblem(program);
  if (problem !== null) return failed(problem);
  return withFiles(attempt, settings.password, async ({ log, env }) => {
    // Its own messages go to `log`, apart from the output of the remote program.
    const argv = ['ssh', '-T', '-x', '-E', log, ...sshArguments(settings), BOOTSTRAP];
    const feed = (input: Writable) => feedProgram(input, program, attempt);
    // The stop is sent over the connection, which must therefore outlive it.
    const unstopped = { ...attempt, signal: new EndSignal() };
    const outcome = await runTool(unstopped, { argv, cwd: attempt.cwd, env }, { install: INSTALL, feed });
    return withOwnWords(outcome, { log, host: settings.host }, attempt);
  });
}

/** Sends the program, and a stop when requested. The input stays open until ssh ends: its end means a kill. */
function feedProgram(input: Writable, program: RemoteCode, { step, signal }: Attempt): void {
  // ssh has ended; its exit says more than this error.
  input.on('error', () => {});
  input.write(supervisedLine(program, step.signalOnStop));
  const release = signal.onAbort(() => input.write(STOP_LINE));
  input.on('close', release);
}

function keyProblem({ key }: SshSettings, { cwd }: Attempt): string | null {
  if (key === null) return null;
  return tryOr(`the key "${key}" cannot be read`, () => accessSync(resolve(cwd, key), constants.R_OK) ?? null);
}

function nulProblem({ code, script }: RemoteCode): string | null {
  if (!`${code}${script}`.includes('\0')) return null;
  return 'the command or one of its variables contains a NUL character, which cannot be passed to a program';
}

/** Creates the files that ssh needs while it runs. */
async function withFiles(
  attempt: Attempt,
  password: string | null,
  use: (files: { readonly log: string; readonly env: Attempt['env'] }) => Promise<Outcome>,
): Promise<Outcome> {
  const base = join(attempt.scratch(), `ssh-${randomBytes(4).toString('hex')}`);
  const [log, askpass] = [`${base}.log`, `${base}.askpass`];
  try {
    writeFileSync(log, '', { flag: 'wx', mode: 0o600 });
    if (password === null) return await use({ log, env: attempt.env });
    writeFileSync(askpass, ASKPASS_PROGRAM, { flag: 'wx', mode: 0o700 });
    // Older versions of ssh use it only if there is a display.
    const asking = { SSH_ASKPASS: askpass, SSH_ASKPASS_REQUIRE: 'force', DISPLAY: ':0', WF_SSH_PASSWORD: password };
    return await use({ log, env: { ...attempt.env, ...asking } });
  } finally {
    removeIfPossible(log);
    removeIfPossible(askpass);
  }
}

/** ssh asks this program for the password, and whether to trust an unknown host. */
const ASKPASS_PROGRAM = `#!/bin/sh
case $1 in
  *'(yes/no'*) echo no ;;
  *) printf '%s\\n' "$WF_SSH_PASSWORD" ;;
esac
`;

/** Adds the messages of ssh itself to the log, and to the outcome if ssh failed. */
function withOwnWords(outcome: Outcome, { log, host }: { log: string; host: string }, attempt: Attempt): Outcome {
  const said = readFileSync(log, 'utf8').replaceAll('\r', '');
  const isOwnFailure = outcome.status === 'failed' && outcome.exitCode === SSH_FAILED;
  // Read before the log is added to the error output. After a first contact the log has a line about the key of the host.
  const loss = isOwnFailure ? lostConnection(attempt.log.stderrPath) : null;
  if (said !== '') attempt.write('stderr', said);
  if (isOwnFailure && loss !== null) return { ...outcome, message: loss };
  const reasons = said.split('\n').filter((line) => line !== '' && !/^(\*\*|warning)/i.test(line));
  const reason = reasons.at(-1);
  if (!isOwnFailure || reason === undefined) return outcome;
  if (reason === KEY_REFUSED) return { ...outcome, message: `ssh: ${withoutDot(reason)}${keyAdvice(said, host)}` };
  if (LOSS_IN_LOG.test(reason)) return { ...outcome, message: lost(reason) };
  return { ...outcome, message: reason.startsWith('ssh') ? reason : `ssh: ${reason}` };
}

/** The same message for a new and for a changed key of the host, which need different actions. */
const KEY_REFUSED = 'Host key verification failed.';

/** Source of the warnings: check_host_key in sshconnect.c of OpenSSH; there is one for a revoked key too. */
function keyAdvice(said: string, host: string): string {
  if (said.includes('REMOTE HOST IDENTIFICATION HAS CHANGED'))
    return `: the key of ${host} has changed: if that is expected, remove the old one, which the log names`;
  if (said.includes('@@@@')) return '';
  return `: ${host} is not in known_hosts: add its key, or set "strictHostKeyChecking: accept-new"`;
}

/** Messages about a lost connection that go to the log. Source: clientloop.c of OpenSSH. */
const LOSS_IN_LOG = /^(?:client_loop: send disconnect: |Timeout, server .* not responding)/;

/** Bytes at the end of the error output that contain the last message of ssh. */
const TAIL_BYTES = 1024;

/** These messages end with CR LF, and go to the error output even with `-E`. Source: clientloop.c of OpenSSH. */
const LAST_WORDS =
  /(?:^|\n)((?:Connection to .* closed by remote host|Read from remote host .*: .*|Write failed: .*)\.?)\r+\n$/;

/** The message of ssh about a connection lost while the program was running; null if there is none. */
function lostConnection(stderrPath: string): string | null {
  const [, words] = LAST_WORDS.exec(tailOf(stderrPath)) ?? [];
  return words === undefined ? null : lost(words);
}

function lost(reason: string): string {
  return `the connection was lost (ssh: ${withoutDot(reason)})`;
}

function withoutDot(sentence: string): string {
  return sentence.replace(/\.$/, '');
}

function tailOf(path: string): string {
  return closing(openSync(path, 'r'), (fd) => {
    const { size } = fstatSync(fd);
    const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES));
    readSync(fd, bytes, 0, bytes.length, size - bytes.length);
    return bytes.toString();
  });
}

/** Connection settings; null values are left to the user's own ssh configuration. */
type SshSettings = {
  readonly host: string;
  readonly user: string | null;
  readonly port: string | null;
  readonly key: string | null;
  /** Password of the remote user, or of the key. */
  readonly password: string | null;
  readonly hostKeys: HostKeys | null;
};

/** `any`: accept every host key and remember none; else a value of ssh's StrictHostKeyChecking. */
type HostKeys = 'any' | { readonly checking: string };

/** Reads a checked config; returns a problem if it names no host, or contains values that ssh would misread. */
function sshSettings(config: JsonObject, attempt: Attempt): SshSettings | { readonly problem: string } {
  const { text } = toolSettings(config, attempt);
  const host = text('host');
  if (host === null) return { problem: 'the ssh executor needs "host"' };
  const key = text('key');
  const settings = {
    host,
    user: text('user'),
    port: text('port'),
    key: key === null ? null : expandHome(key, attempt.env['HOME']),
    password: text('password'),
    hostKeys: hostKeys(config.strictHostKeyChecking, text('strictHostKeyChecking')),
  };
  const problem = refusal(settings, sshArguments(settings), attempt.env);
  return problem === null ? settings : { problem };
}

function hostKeys(value: Json | undefined, text: string | null): HostKeys | null {
  if (value === false || text === 'false' || text === 'no' || text === 'off') return 'any';
  if (value === true || text === 'true') return { checking: 'yes' };
  return text === null ? null : { checking: text };
}

/** The destination and how to connect to it: without prompts, and not for long if it fails or stalls. */
function sshArguments({ host, user, port, key, password, hostKeys }: SshSettings): readonly string[] {
  const asking = password === null ? ['BatchMode=yes'] : ['BatchMode=no', 'NumberOfPasswordPrompts=1'];
  const options = ['ConnectTimeout=15', 'ServerAliveInterval=30', ...asking, ...hostKeyOptions(hostKeys)];
  return [
    ...options.flatMap((option) => ['-o', option]),
    ...(user === null ? [] : ['-l', user]),
    ...(port === null ? [] : ['-p', port]),
    // ssh expands percent signs in the name of a key.
    ...(key === null ? [] : ['-o', 'IdentitiesOnly=yes', '-i', key.replaceAll('%', '%%')]),
    ...['--', host],
  ];
}

function hostKeyOptions(hostKeys: HostKeys | null): readonly string[] {
  if (hostKeys === null) return [];
  if (hostKeys !== 'any') return [`StrictHostKeyChecking=${hostKeys.checking}`];
  return ['StrictHostKeyChecking=no', 'UserKnownHostsFile=/dev/null', 'LogLevel=ERROR'];
}

/** Values that every ssh accepts. */
const plain = {
  name: /^[a-z0-9_][\w.-]*$/i,
  port: /^[1-9]\d{0,3}$/,
  checking: /^(yes|no|ask|off|accept-new)$/,
};

/**
 * The complaint of ssh about its settings; null if there is none. ssh prints it before it honours `-E`, where it looks
 * like output of the remote program. So ssh is asked before a connection is made, and without the user's configuration,
 * which may run programs. Plain settings are not checked.
 */
function refusal(settings: SshSettings, args: readonly string[], env: Readonly<Record<string, string>>) {
  if (isPlain(settings)) return null;
  const reason = complaint(['-F', 'none', '-G', ...args], env)
    .trim()
    .split(/\s*\n/)
    .at(-1);
  return reason ? `ssh: ${reason}` : null;
}

/** Empty if ssh accepts the settings, or cannot be started, which its start for the step will report. */
function complaint(args: readonly string[], env: Readonly<Record<string, string>>): string {
  const { spawnSync } = process.getBuiltinModule('node:child_process');
  return tryOr('', () => {
    const { status, stderr } = spawnSync('ssh', args, { env, encoding: 'utf8', timeout: 5000 });
    return status === 0 || status === null ? '' : stderr;
  });
}

function isPlain({ host, user, port, hostKeys }: SshSettings): boolean {
  const checking = hostKeys === null || hostKeys === 'any' ? 'no' : hostKeys.checking;
  return (
    [host, user ?? 'user'].every((name) => plain.name.test(name)) &&
    plain.port.test(port ?? '22') &&
    plain.checking.test(checking)
  );
}
