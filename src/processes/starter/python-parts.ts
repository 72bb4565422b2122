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
export const pythonParts = String.raw`
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
