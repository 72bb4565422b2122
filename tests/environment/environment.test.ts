import { describe, expect, it } from 'vitest';
import type { Param } from '#core/run/run.ts';
import type { SecretSource } from '#core/workflow.ts';
import { EvaluationProblem, evaluateEnvironment, mergeParams, paramText } from '#environment/environment.ts';
import { knownSecrets } from '#environment/known-secrets.ts';
import { workflow } from '../support/workflow.ts';

const named = (name: string, value: string): Param => ({ name, value });
const positional = (value: string): Param => ({ name: null, value });

/** Returns the command's text and the value of A in its environment, so that a test sees both. */
const echo = (command: string, env: Readonly<Record<string, string>>) =>
  Promise.resolve(`<${command}|${env['A'] ?? ''}>`);

const evaluate = (
  file: { params?: Param[]; env?: { name: string; value: string }[]; secrets?: SecretSource[] },
  given: Param[] = [],
  processEnv: Record<string, string> = {},
) =>
  evaluateEnvironment(
    { params: file.params ?? [], env: file.env ?? [], secrets: file.secrets ?? [] },
    given,
    processEnv,
    echo,
  );

describe('evaluateEnvironment', () => {
  it('lets an entry use the process, earlier entries and parameters', async () => {
    const result = await evaluate(
      {
        params: [named('P', 'p')],
        env: [
          { name: 'A', value: '$HOME/a' },
          { name: 'B', value: '${A}-$P-$1' },
        ],
      },
      [],
      { HOME: '/home/me' },
    );
    expect(result).toEqual({
      params: [named('P', 'p')],
      variables: { A: '/home/me/a', B: '/home/me/a-p-P=p', P: 'p' },
    });
  });

  it('lets an entry extend the variable of its own name', async () => {
    const { variables } = await evaluate({ env: [{ name: 'PATH', value: '/opt/bin:$PATH' }] }, [], { PATH: '/bin' });
    expect(variables).toEqual({ PATH: '/opt/bin:/bin' });
  });

  it('lets a default use env, whatever its position in the file', async () => {
    const { params } = await evaluate({ params: [named('P', '$A!')], env: [{ name: 'A', value: 'a' }] });
    expect(params).toEqual([named('P', 'a!')]);
  });

  it('has no variables that every object has', async () => {
    const env = [{ name: 'A', value: '[$constructor${toString:-none}]' }];
    expect((await evaluate({ env })).variables).toEqual({ A: '[none]' });
    const secret = { name: 'constructor', env: null, file: null };
    expect(knownSecrets(workflow({ secrets: [secret] }), [], {}).secrets.isEmpty).toBe(true);
  });

  it('prefers a parameter to an entry with the same name', async () => {
    const { variables } = await evaluate({ params: [named('A', 'param')], env: [{ name: 'A', value: 'env' }] });
    expect(variables).toEqual({ A: 'param' });
  });

  it('runs substitutions of the file with the entries before them in their environment', async () => {
    const { variables } = await evaluate({
      env: [
        { name: 'A', value: 'first' },
        { name: 'B', value: 'x`cmd $A`y' },
      ],
    });
    expect(variables).toEqual({ A: 'first', B: 'x<cmd $A|first>y' });
  });

  it('never evaluates values given by the caller', async () => {
    const value = '`reboot` $(reboot) $HOME \\$ "x';
    const { params, variables } = await evaluate({ params: [named('P', 'default')] }, [named('P', value)], {
      HOME: '/h',
    });
    expect({ params, variables }).toEqual({ params: [named('P', value)], variables: { P: value } });
  });

  it('names a value that depends on itself', async () => {
    const circle = evaluate({ params: [named('P', '$A')], env: [{ name: 'A', value: '$P' }] });
    await expect(circle).rejects.toThrow(new EvaluationProblem('parameter "P" depends on itself'));
  });

  it('shows no secret parameter by its position', async () => {
    const secrets = [{ name: 'TOKEN', env: null, file: null }];
    const { variables } = await evaluate({ params: [named('TOKEN', 't'), named('B', '[$1|$TOKEN]')], secrets });
    expect(variables).toEqual({ TOKEN: 't', B: '[|t]' });
  });

  it('names the entry of a failed substitution', async () => {
    const fail = () => Promise.reject(new EvaluationProblem('`false`: exit 1'));
    const result = evaluateEnvironment(
      { params: [], env: [{ name: 'A', value: '`false`' }], secrets: [] },
      [],
      {},
      fail,
    );
    await expect(result).rejects.toThrow('env "A": `false`: exit 1');
  });
});

describe('mergeParams', () => {
  const defaults = [positional('one'), named('N', 'two'), positional('three')];
  const merge = (...given: Param[]) => mergeParams(defaults, given).map((param) => paramText(param, []));

  it.each([
    ['nothing given', [], ['one', 'N=two', 'three']],
    ['by name', [named('N', 'x')], ['one', 'N=x', 'three']],
    ['by position', [positional('x')], ['x', 'N=two', 'three']],
    ['by position, the names stay', [positional('x'), positional('y')], ['x', 'N=y', 'three']],
    ['both, positions skip what was named', [named('N', 'n'), positional('x'), positional('y')], ['x', 'N=n', 'y']],
    ['more than there are', ['1', '2', '3', '4'].map(positional), ['1', 'N=2', '3', '4']],
    ['a new name', [named('M', 'm')], ['one', 'N=two', 'three', 'M=m']],
    ['an empty value', [named('N', '')], ['one', 'N=', 'three']],
  ])('takes %s', (_, given, expected) => {
    expect(merge(...given)).toEqual(expected);
  });

  it('takes a given value for a name with several defaults as the last one', async () => {
    const workflow = { params: [named('A', '1'), named('A', '2')], env: [], secrets: [] };
    const { params, variables } = await evaluateEnvironment(workflow, [named('A', 'given')], {}, async () => '');
    expect(params.map((param) => paramText(param, []))).toEqual(['A=1', 'A=given']);
    expect(variables).toEqual({ A: 'given' });
  });
});
