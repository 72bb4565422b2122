import type { Command } from 'commander';
import { type Candidate, type Candidates, plain } from './candidate.ts';
import type { Expected } from './expected.ts';

const nothing: Candidates = { files: 'none', values: [] };

/** Everything that could stand there; the shell picks what begins as the word does. */
export async function findCandidates(expected: Expected, program: Command): Promise<Candidates> {
  switch (expected.type) {
    case 'nothing':
      return nothing;
    case 'command':
      return { files: 'none', values: commandNames(program, expected.word) };
    case 'option':
      return { files: 'none', values: optionNames(expected.command) };
    case 'value': {
      const { value, before } = expected;
      if (value.choices.length > 0)
        return { files: 'none', values: value.choices.map((choice) => plain(before + choice)) };
      const { findValues } = await import('./values.ts');
      const { files, values } = await findValues(expected);
      return { files, values: values.map((each) => ({ ...each, value: before + each.value })) };
    }
  }
}

/** Other names of commands are for those who ask for them by their first letters. */
function commandNames(program: Command, word: string): readonly Candidate[] {
  const commands = program.createHelp().visibleCommands(program);
  return commands.flatMap((command) => {
    const names = word === '' ? [command.name()] : [command.name(), ...command.aliases()];
    return names.map((value) => ({ value, description: command.description() }));
  });
}

function optionNames(command: Command): readonly Candidate[] {
  return command
    .createHelp()
    .visibleOptions(command)
    .map(({ long, short, description }) => ({ value: long ?? short ?? '', description }));
}
