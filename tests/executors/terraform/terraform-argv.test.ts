import { expect, test } from 'vitest';
import { type TerraformSettings, terraformCommands } from '#executors/terraform/terraform.ts';

const everything: TerraformSettings = {
  binary: 'terraform',
  workingDir: 'infra',
  init: false,
  initArgs: ['-upgrade'],
  backendConfig: ['bucket=b', 'more.hcl'],
  words: [],
  args: ['-lock=false'],
  varFiles: ['prod.tfvars'],
  vars: [
    ['a', '1'],
    ['b', ''],
  ],
  targets: ['module.app'],
  autoApprove: true,
  planFile: null,
  color: false,
};

function main(words: readonly string[], settings: Partial<TerraformSettings> = {}): string {
  const commands = terraformCommands({ ...everything, words, ...settings });
  return 'problem' in commands ? commands.problem : commands.main.join(' ');
}

const general = '-input=false -no-color';
const variables = '-var-file=prod.tfvars -var=a=1 -var=b=';

test.each([
  [['plan'], `plan ${general} ${variables} -target=module.app -lock=false`],
  [['apply'], `apply ${general} ${variables} -target=module.app -auto-approve -lock=false`],
  [['destroy'], `destroy ${general} ${variables} -target=module.app -auto-approve -lock=false`],
  [['refresh'], `refresh ${general} ${variables} -target=module.app -lock=false`],
  [['import', 'a.b', 'id'], `import ${general} ${variables} -lock=false a.b id`],
  [['console'], `console ${variables} -lock=false`],
  [['validate'], 'validate -no-color -lock=false'],
  [['output', 'name'], 'output -no-color -lock=false name'],
  [['fmt'], 'fmt -no-color -lock=false'],
  [['state', 'mv', 'a', 'b'], 'state mv -lock=false a b'],
  [['workspace', 'select', 'prod'], 'workspace select -lock=false prod'],
  [['providers'], 'providers -lock=false'],
  [['something-new'], 'something-new -lock=false'],
])('each subcommand gets its options before its arguments: %j', (words, expected) => {
  expect(main(words)).toBe(`terraform -chdir=infra ${expected}`);
});

test('plan writes a plan file; apply reads it as the last argument, without the settings it contains', () => {
  const plan = { planFile: 'p.out', args: [] };
  expect([main(['plan'], plan), main(['apply'], plan), main(['show', '-json'], plan)]).toEqual([
    `terraform -chdir=infra plan ${general} ${variables} -target=module.app -out=p.out`,
    `terraform -chdir=infra apply ${general} -auto-approve p.out`,
    'terraform -chdir=infra show -no-color -json p.out',
  ]);
});

test.each([['-input=true'], ['--input'], ['-input']])('%s in the arguments is recognized', (input) => {
  expect(main(['plan'], { args: [input], vars: [], varFiles: [], targets: [] })).toBe(
    `terraform -chdir=infra plan -no-color ${input}`,
  );
});

test('init comes first, with its own arguments', () => {
  const init = `terraform -chdir=infra init ${general} -backend-config=bucket=b -backend-config=more.hcl -upgrade`;
  const given = { ...everything, init: true };
  const commands = terraformCommands({ ...given, words: ['validate'], args: [] });
  expect(commands).toEqual({ init: init.split(' '), main: 'terraform -chdir=infra validate -no-color'.split(' ') });
  expect(terraformCommands(given)).toEqual({ init: null, main: init.split(' ') });
});

test('without a directory, and with colours, there are no options for them', () => {
  expect(main(['validate'], { workingDir: null, color: true, args: [] })).toBe('terraform validate');
});
