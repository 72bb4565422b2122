import { constants } from 'node:fs';
import { REPORT_FD } from '../reporting-process.ts';
import { PYTHON_PARTS } from './shared-starter-program.ts';

const { O_WRONLY, O_APPEND } = constants;

/**
 * A starter of programs that report one line through a pipe at `reportFd`. They stay in its session and its group: Linux may
 * share the processors among sessions first, so that hundreds of sessions would leave next to nothing for the one that
 * has requested them. In a group of its own, a stopped program would be sent SIGHUP when the starter ends. Its reports,
 * besides `ready`:
 *
 *   started <request> <pid>          the request has become a program
 *   failed <request> <errno>         the request could not become a program
 *   said <request> <hex>             the program has written this line, with its end, and perhaps more
 *   silent <request>                 the program has closed the pipe without a whole line
 *   ended <request> <wait status>    the program has ended
 *
 * The first message is the environment of the programs as `NAME=value`. The others are requests: their number, the working
 * directory, an existing file for all output, the path of the program, and the arguments from 0 on.
 */
export const reportingStarterProgram = String.raw`
${PYTHON_PARTS}
env, numbers, pipes = None, {}, {}
def start(number, directory, log, path, *argv):
  try: listen, speak = posix.pipe()
  except OSError as error: return note(b'failed %b %d\n', number, error.errno)
  files = [(posix.POSIX_SPAWN_OPEN, 1, log, ${O_WRONLY | O_APPEND}, 0)]
  files += [(posix.POSIX_SPAWN_DUP2, fd, copy) for fd, copy in ((1, 2), (speak, ${REPORT_FD}))]
  try:
    posix.chdir(directory)
    pid = spawn(path, argv, env, files, False)
  except OSError as error:
    posix.close(listen)
    note(b'failed %b %d\n', number, error.errno)
  else:
    numbers[pid], pipes[listen] = number, (number, b'')
    poll.register(listen, select.POLLIN)
    note(b'started %b %d\n', number, pid)
  finally:
    posix.close(speak)
    posix.chdir('/')
def hear(pipe):
  number, heard = pipes[pipe]
  read = posix.read(pipe, 65536)
  heard += read
  if read and not heard.endswith(b'\n'):
    pipes[pipe] = number, heard
    return
  if read: note(b'said %b %b\n', number, heard.hex().encode())
  else: note(b'silent %b\n', number)
  poll.unregister(pipe)
  posix.close(pipe)
  del pipes[pipe]
def end(pid, status):
  if pid in numbers: note(b'ended %b %d\n', numbers.pop(pid), status)
def take(texts):
  global env
  if env is None: env = change({}, texts)
  else: start(*texts)
get_ready()
while True:
  for fd, events in poll.poll():
    if fd == messages: receive(take)
    elif fd == woken: reap(end)
    else: hear(fd)
  report()
`;
