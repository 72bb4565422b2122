import { constants } from 'node:fs';

const { O_WRONLY, O_APPEND, O_CREAT } = constants;
const append = O_WRONLY | O_APPEND | O_CREAT;

/** The number of the system call on Linux. */
const setsidNumbers: Readonly<Record<string, number>> = { x64: 112, arm64: 157, riscv64: 157 };
const setsidNumber = process.platform === 'linux' ? setsidNumbers[process.arch] : undefined;
/** The module POSIX is left out where that is possible: with it each child takes an eighth longer to make. */
const [setsidModule, setsid] =
  setsidNumber === undefined ? ['use POSIX ();', 'POSIX::setsid();'] : ['', `syscall(${setsidNumber});`];

/**
 * A starter in Perl. It always has one child ready that waits for a request; that child becomes the program. To its standard
 * output it tells what happens, a line each:
 *
 *   ready <pid> <stat>    a child waits, the leader of a session of its own; its line in /proc/<pid>/stat, where the system
 *                         has it
 *   failed <errno>        it could not become the program
 *   ended <wait status>   it is over
 *
 * From its standard input it takes messages: a line with a word that nobody else knows, the number of the process that it is
 * for and the length of what follows; then texts with a NUL after each. The first is for the starter itself, the environment
 * of the programs as `NAME=value`. The others are requests: working directory, file for standard output, file for standard
 * error, path of the program, number of arguments, the arguments from 0 on, then what differs in the environment:
 * `NAME=value`, or `NAME` for one to leave out. A child may be killed before it has read what was for it; the next one must
 * not take that for its own. The end of the messages is the end of the starter.
 *
 * Each page of memory that the child is the first to change is copied for it, so it changes few: what it reads into is there
 * before the fork, and the logs are opened right where they belong, as the first descriptors that are free.
 */
export const starterProgram = String.raw`
use strict;
${setsidModule}
$0 = 'wf-starter';
open(my $reports, '>&', \*STDOUT) or exit 1;
open(my $messages, '<&', \*STDIN) or exit 1;
open(STDIN, '<', '/dev/null') or exit 1;
open(STDOUT, '>', '/dev/null') or exit 1;
open(STAT, '<', '/dev/null') or exit 1;
my $starter = $$;
my ($secret, $stat, $text) = (undef, ' ' x 1024, ' ' x 65536);
$text = '';
my @variables = message() or exit 0;
%ENV = ();
change($_) for @variables;
for (;;) {
  my $pid = fork;
  exit 1 unless defined $pid;
  become() unless $pid;
  waitpid $pid, 0;
  report("ended $?\n");
}
sub become {
  ${setsid}
  sysopen(STAT, '/proc/self/stat', 0) && sysread(STAT, $stat, 1024) or $stat = "\n";
  report("ready $$ $stat");
  my ($directory, $out, $err, $program, $count, @rest) = message() or stop();
  my @argv = splice @rest, 0, $count;
  change($_) for @rest;
  chdir $directory or failed();
  close STDOUT;
  sysopen(STDOUT, $out, ${append}, 0600) or failed();
  close STDERR;
  sysopen(STDERR, $err, ${append}, 0600) or failed();
  { no warnings; exec {$program} @argv }
  failed();
}
sub change {
  my ($name, $value) = split /=/, $_[0], 2;
  if (defined $value) { $ENV{$name} = $value } else { delete $ENV{$name} }
}
sub message {
  for (;;) {
    while ($text =~ /^(\S+) (\d+) (\d+)\n/ && length $text >= $+[0] + $3) {
      my ($word, $pid, $length, $begin) = ($1, $2, $3, $+[0]);
      $secret = $word unless defined $secret;
      stop() if $word ne $secret;
      my $content = substr $text, $begin, $length;
      $text = substr $text, $begin + $length;
      next if $pid != $$;
      my @texts = split /\0/, $content, -1;
      pop @texts;
      return @texts;
    }
    stop() if $text =~ /^[^\n]{0,99}\n/ && $text !~ /^\S+ \d+ \d+\n/ || $text =~ /^[^\n]{100}/;
    sysread $messages, $text, 65536, length $text or return;
  }
}
sub report {
  defined syswrite($reports, $_[0]) or exit 1;
}
sub failed {
  report('failed ' . ($! + 0) . "\n");
  exit 127;
}
sub stop {
  kill 'KILL', $starter if getppid == $starter;
  exit 0;
}
`;
