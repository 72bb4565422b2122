import { constants } from 'node:fs';
import { TICK_MS } from '../process-identity.ts';

/**
 * What the starters in Python have in common. They read messages from standard input: a line with the length of the rest; then
 * texts, each terminated by a NUL. At the end of the input they exit. They report to standard output in lines, the first of
 * which is `ready`.
 *
 * They start programs with `posix_spawn`, which shares the memory of the starter with the program until that replaces it, so
 * that nothing is copied. Before they are ready, they try to start a directory, so that a Python before 3.8 or a system without
 * `setsid` ends them.
 *
 * They import only modules that are part of the interpreter: others take longer to load than a hundred programs to start.
 * Python ignores two signals, which programs must not inherit. A program's signals are reset unless they are ignored, since
 * `posix_spawn` asks the system about each of the others.
 */
export const PYTHON_PARTS = String.raw`
# wf-starter
import posix, select, time, _signal
messages, reports = posix.dup(0), posix.dup(1)
null = posix.open('/dev/null', posix.O_RDWR)
for fd in 0, 1: posix.dup2(null, fd)
woken, wake = posix.pipe()
for fd in woken, wake: posix.set_blocking(fd, False)
_signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
_signal.signal(_signal.SIGCHLD, lambda number, frame: None)
own = {_signal.SIGPIPE, _signal.SIGXFSZ}
fixed = {_signal.SIGKILL, _signal.SIGSTOP}
usual = [one for one in _signal.valid_signals() - fixed if one in own or _signal.getsignal(one) != _signal.SIG_IGN]
lines, text = b'', b''
def note(line, *values):
  global lines
  lines += line % values
def report():
  global lines
  while lines: lines = lines[posix.write(reports, lines):]
def receive(take):
  global text
  read = posix.read(messages, 65536)
  if not read: posix._exit(0)
  text += read
  while True:
    body = text.find(b'\n') + 1
    if body == 0: break
    end = body + int(text[:body])
    if len(text) < end: break
    texts = text[body:end].split(b'\0')
    texts.pop()
    text = text[end:]
    take(texts)
def change(env, texts):
  for text in texts:
    name, mark, value = text.partition(b'=')
    if mark: env[name] = value
    else: env.pop(name, None)
  return env
def spawn(path, argv, env, files, setsid):
  return posix.posix_spawn(path, argv, env, file_actions=files, setsid=setsid, setsigdef=usual)
def reap(end):
  try:
    posix.read(woken, 4096)
    while True:
      pid, status = posix.waitpid(-1, posix.WNOHANG)
      if pid == 0: return
      end(pid, status)
  except (BlockingIOError, ChildProcessError): pass
poll = select.poll()
for fd in messages, woken: poll.register(fd, select.POLLIN)
def get_ready():
  try: spawn('/', ('/',), {}, (), True)
  except OSError: pass
  note(b'ready\n')
  report()
`;

/** The same number on every Linux. */
const ENOEXEC = 8;
const { O_WRONLY, O_APPEND, O_CREAT } = constants;
const TICK_NS = TICK_MS * 1e6;

/**
 * A starter that starts any number of programs for steps, each as the leader of its own session. Its reports, besides `ready`:
 *
 *   started <request> <pid> <time>  the request has become a program; its start time as in /proc/<pid>/stat, or -1
 *   failed <request> <errno>        the request could not become a program
 *   refused <request>               the request has become no program: its file could not be flushed, or it was withdrawn
 *   ended <pid> <wait status>       a program has ended
 *   flushed <ns>                    the next file to flush is on disk, after this time; -1: it could not be flushed
 *
 * The first message is the environment of the programs as `NAME=value`. A message of one text is the path of a file to
 * flush, and one of two texts withdraws a request: its group and its number; with an empty group, it makes a running program
 * no longer count in its group: its process number. The others are requests: their number, the file whose last flush must
 * not have failed (or nothing), group and limit, working directory, file for standard output, file for standard error, path of
 * the program, number of arguments, the arguments from 0 on, then differences in the environment: `NAME=value`, or `NAME`
 * for a variable to remove.
 *
 * A request with a limit waits in the queue of its group while that many programs of the group run. Before one of the queue
 * starts, all messages are read that were sent before the end of the program that it follows: a stop withdraws the queue
 * and then ends the programs.
 *
 * It stays in a program's directory only while it starts the program, so that the file system there can be unmounted. A file
 * without an interpreter is given to a shell, as `execvp` does.
 *
 * Reading /proc/<pid>/stat takes a fifth of the time of a start. The kernel takes the start time from the clock since boot,
 * between two looks at that clock: if both show the same tick, that is the start time. The first program shows whether the
 * two agree on this system.
 */
export const sharedStarterProgram = String.raw`
${PYTHON_PARTS}
def start(env, directory, out, err, path, count, *rest):
  count = int(count)
  files = [(posix.POSIX_SPAWN_OPEN, fd, file, ${O_WRONLY | O_APPEND | O_CREAT}, 0o600) for fd, file in ((1, out), (2, err))]
  argv = rest[:count]
  if len(rest) > count: env = change(dict(env), rest[count:])
  posix.chdir(directory)
  try:
    try: return spawn(path, argv, env, files, True)
    except OSError as error:
      if error.errno != ${ENOEXEC}: raise
    return spawn(b'/bin/sh', (b'sh', path) + argv[1:], env, files, True)
  finally: posix.chdir('/')
def ticks(): return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // ${TICK_NS}
def listed(pid):
  try:
    fd = posix.open('/proc/%d/stat' % pid, posix.O_RDONLY)
    try: return int(posix.read(fd, 1024).rpartition(b')')[2].split()[19])
    finally: posix.close(fd)
  except (OSError, LookupError, ValueError): return -1
trusted = None
def born(pid, before):
  global trusted
  after = ticks()
  if trusted and before == after: return after
  found = listed(pid)
  if trusted is None: trusted = before <= found <= after
  return found
unflushed = set()
def flush(path):
  before = time.monotonic_ns()
  try:
    fd = posix.open(path, posix.O_WRONLY)
    try: posix.fdatasync(fd)
    finally: posix.close(fd)
    unflushed.discard(path)
    note(b'flushed %d\n', time.monotonic_ns() - before)
  except OSError:
    unflushed.add(path)
    note(b'flushed -1\n')
groups, running, queues = {}, {}, {}
def begin(number, awaited, group, limit, *request):
  if awaited in unflushed: return note(b'refused %b\n', number)
  before = ticks()
  try: pid = start(env, *request)
  except OSError as error: return note(b'failed %b %d\n', number, error.errno)
  note(b'started %b %d %d\n', number, pid, born(pid, before))
  if group:
    groups[pid] = group
    running[group] = running.get(group, 0) + 1
def is_full(group, limit): return group in running and running[group] >= int(limit)
def dequeue():
  for group in list(queues):
    queue = queues[group]
    while queue and not is_full(group, queue[0][3]): begin(*queue.pop(0))
    if not queue: del queues[group]
def withdraw(group, number):
  queue = queues.get(group, [])
  for request in queue:
    if request[0] == number:
      queue.remove(request)
      note(b'refused %b\n', number)
      break
  if not queue: queues.pop(group, None)
def leave(pid):
  group = groups.pop(pid, None)
  if group is None: return
  running[group] -= 1
  if running[group] == 0: del running[group]
def end(pid, status):
  note(b'ended %d %d\n', pid, status)
  leave(pid)
env = None
def take(texts):
  global env
  if env is None: env = change({}, texts)
  elif len(texts) == 1: flush(*texts)
  elif len(texts) == 2 and texts[0]: withdraw(*texts)
  elif len(texts) == 2: leave(int(texts[1]))
  elif texts[2]: queues.setdefault(texts[2], []).append(texts)
  else:
    begin(*texts)
    report()
get_ready()
while True:
  if lines and not poll.poll(1): report()
  ready = dict(poll.poll())
  if woken in ready:
    reap(end)
    if not queues: report()
    ready = dict(poll.poll(0))
  while messages in ready:
    receive(take)
    ready = dict(poll.poll(0)) if queues else {}
  if queues:
    dequeue()
    report()
`;
