import { constants } from 'node:fs';

const { O_WRONLY, O_APPEND, O_CREAT } = constants;
const append = O_WRONLY | O_APPEND | O_CREAT;

/** Number of the system call on Linux. */
const setsidNumbers: Readonly<Record<string, number>> = { x64: 112, arm64: 157, riscv64: 157 };
const setsidNumber = process.platform === 'linux' ? setsidNumbers[process.arch] : undefined;
/** Avoids the module POSIX if possible: with it, forking a child takes an eighth longer. */
const [setsidModule, setsid] =
  setsidNumber === undefined ? ['use POSIX ();', 'POSIX::setsid();'] : ['', `syscall(${setsidNumber});`];

/**
 * A starter in Perl. It always has one child ready that waits for a request and then becomes the program. It reports to its
 * standard output, one line each:
 *
 *   ready <pid> <stat>    a child waits as the leader of its own session; its line in /proc/<pid>/stat, if the system has it
 *   failed <errno>        the child could not become the program
 *   ended <wait status>   the program has ended
 *
 * It reads messages from its standard input: a line with a secret word, the number of the receiving process and the length
 * of the rest; then texts, each terminated by a NUL. The first message is for the starter itself: the environment of the
 * programs as `NAME=value`. The others are requests: working directory, file for standard output, file for standard error,
 * path of the program, number of arguments, the arguments from 0 on, then differences in the environment: `NAME=value`, or
 * `NAME` for a variable to remove. A child may be killed before it has read its request; the next one must not take that
 * request for its own. The starter exits at the end of its input.
 *
 * Every memory page that the child is the first to change is copied, so it changes few: its input buffer exists before the
 * fork, and the logs are opened directly as the lowest free descriptors.
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
