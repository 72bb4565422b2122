import type { Path, Problem } from '../problem.ts';
import { problem } from '../problem.ts';
import type { SpecFile } from '../read/spec-file.ts';
import { spotIn } from '../read/spec-file.ts';
import { actionEntries } from './action-entries.ts';

/** A place that asks for a mail, and the settings that it is sent through; null for a step that is the mail itself. */
type Wish = { readonly file: SpecFile; readonly path: Path; readonly through: 'errorMail' | 'infoMail' | null };

/** Mails that are asked for and cannot be sent, once for each thing that is missing. Runs go on without, so they warn. */
export function mailProblems(settings: readonly SpecFile[], files: readonly SpecFile[]): Problem[] {
  const wishes = [...wishesOfRun(settings), ...files.flatMap(wishesOfSteps)];
  const firsts = new Map<string, Wish>();
  for (const wish of wishes) {
    const missing = missingFor(wish, settings);
    if (missing !== null && !firsts.has(missing)) firsts.set(missing, wish);
  }
  return [...firsts].map(([missing, { file, path }]) => {
    const message = `this mail cannot be sent: there is no "${missing}"`;
    const help = missing === 'smtp' ? 'Name the mail server: smtp: {host: smtp.example.com}.' : `Add "${missing}".`;
    return problem('unsent-mail', spotIn(file, path, 'key'), message, { severity: 'warning', help });
  });
}

/** The file's own word goes before that of the base. */
function wishesOfRun(settings: readonly SpecFile[]): Wish[] {
  const throughs = { failure: 'errorMail', success: 'infoMail', cancel: 'errorMail' } as const;
  return (['failure', 'success', 'cancel'] as const).flatMap((occasion) => {
    const file = settings.findLast(({ raw }) => raw.mailOn?.[occasion] !== undefined);
    if (!file?.raw.mailOn?.[occasion]) return [];
    return [{ file, path: ['mailOn', occasion], through: throughs[occasion] }];
  });
}

function wishesOfSteps(file: SpecFile): Wish[] {
  return actionEntries(file).flatMap(({ path, raw }): Wish[] => {
    const { mailOn, mailOnError, executor } = raw;
    const type = typeof executor === 'string' ? executor : executor?.type;
    return [
      ...(type === 'mail' ? [{ file, path: [...path, 'executor'], through: null }] : []),
      ...(mailOn?.failure ? [{ file, path: [...path, 'mailOn', 'failure'], through: 'errorMail' as const }] : []),
      ...(mailOn?.success ? [{ file, path: [...path, 'mailOn', 'success'], through: 'infoMail' as const }] : []),
      ...(mailOnError ? [{ file, path: [...path, 'mailOnError'], through: 'errorMail' as const }] : []),
    ];
  });
}

/** The first key that is missing, in whatever file it could stand. What was there and wrong has been told already. */
function missingFor({ through }: Wish, settings: readonly SpecFile[]): string | null {
  if (settings.some(({ damaged, raw }) => damaged.has(raw))) return null;
  if (settings.every(({ raw }) => raw.smtp === undefined)) return 'smtp';
  if (through === null) return null;
  const given = settings.flatMap(({ raw }) => raw[through] ?? []);
  if (given.length === 0) return through;
  if (settings.some(({ raw, damaged }) => damaged.has(raw[through]))) return null;
  const part = (['from', 'to'] as const).find((key) => given.every((mail) => (mail[key] ?? '').length === 0));
  return part === undefined ? null : `${through}.${part}`;
}
