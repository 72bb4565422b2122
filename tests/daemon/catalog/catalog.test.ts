import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Catalog, createCatalog } from '#daemon/catalog/catalog.ts';
import type { CatalogChange } from '#daemon/catalog/catalog-files.ts';
import { loadWorkflow } from '#language/load.ts';
import type { LoadWorkflow } from '#service/workflows/load-workflow.ts';
import { type Clock, systemClock } from '#system/clock.ts';
import { WfError } from '#system/errors.ts';

let root: string;
let dagsDir: string;
const opened: Catalog[] = [];

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'wf-catalog-'));
  dagsDir = join(root, 'dags');
  mkdirSync(dagsDir);
});

afterEach(() => {
  for (const catalog of opened.splice(0)) catalog.close();
  rmSync(root, { recursive: true });
});

/** The number of looks that any catalog has planned. */
let looksPlanned = 0;

const countingClock: Clock = {
  ...systemClock,
  setTimer: (at, fire) => {
    looksPlanned += 1;
    return systemClock.setTimer(at, fire);
  },
};

/** `pollMs` is long where only a message of the system can be the reason to look; `log` gets lines for the operator. */
async function open(pollMs = 30, load: LoadWorkflow = loadWorkflow, log?: string[]): Promise<Catalog> {
  const report = (error: unknown) => {
    if (log === undefined || !(error instanceof WfError)) throw error;
    log.push(error.message);
  };
  const catalog = await createCatalog(
    { dagsDir, base: join(root, 'base.yaml') },
    { clock: countingClock, report, log: (line) => log?.push(line), pollMs, load },
  );
  opened.push(catalog);
  return catalog;
}

const yaml = (name: string) => `name: ${name}\nsteps:\n  - {name: a, command: echo}\n`;

function write(path: string, text: string): string {
  const file = join(dagsDir, path);
  writeFileSync(file, text);
  return file;
}

/** Long ago, so that it is not taken for being written. */
function writeOld(path: string, text: string): string {
  const file = join(dagsDir, path);
  writeAged(file, text, 1_700_000_000);
  return file;
}

/** `time`: in seconds since 1970-01-01 UTC. */
function writeAged(file: string, text: string, time: number): void {
  writeFileSync(file, text);
  utimesSync(file, time, time);
}

const names = (catalog: Catalog) => catalog.list().map(({ name }) => name);

/** Looks often: the catalog finds a change within milliseconds. */
function soon<T>(value: () => T, options = {}) {
  return expect.poll(value, { interval: 5, ...options });
}

function pause(ms: number): Promise<void> {
  return new Promise<void>((resolve) => void systemClock.setTimer(Date.now() + ms, resolve));
}

describe('a catalog', () => {
  it('does not wait for all large files, and lists the others later', async () => {
    for (const name of ['a', 'b', 'c']) writeOld(`${name}.yaml`, `${yaml(name)}# ${'large '.repeat(100)}\n`);
    writeOld('small.yaml', yaml('small'));
    const answers: (() => void)[] = [];
    const load: LoadWorkflow = (request) => {
      const isSmall = request.file?.endsWith('small.yaml');
      return isSmall ? loadWorkflow(request) : new Promise((done) => answers.push(() => done(loadWorkflow(request))));
    };
    const lines: string[] = [];
    const log = (line: string) => void lines.push(line);
    const options = { clock: countingClock, report: () => {}, log, pollMs: 60_000, load, waitMs: 0 };
    const opening = createCatalog({ dagsDir, base: null }, options);
    await soon(() => answers.length).toBe(1);
    answers[0]?.();
    const catalog = await opening;
    opened.push(catalog);
    expect([names(catalog), lines]).toEqual([
      ['a', 'small'],
      ['2 workflow files take long to read, and are listed later'],
    ]);
    await soon(() => answers.length).toBe(2);
    answers[1]?.();
    await soon(() => names(catalog)).toEqual(['a', 'b', 'small']);
    await soon(() => answers.length).toBe(3);
    answers[2]?.();
    await soon(() => names(catalog)).toEqual(['a', 'b', 'c', 'small']);
  });

  it('lists every file in the order of the paths, with groups', async () => {
    mkdirSync(join(dagsDir, 'etl/night'), { recursive: true });
    write('b.yml', yaml('two'));
    write('a.yaml', yaml('one'));
    write('etl/night/c.yaml', yaml('three'));
    write('notes.txt', 'no workflow');
    write('.#a.yaml', 'the lock of an editor');
    mkdirSync(join(dagsDir, '.git'));
    write('.git/d.yaml', yaml('four'));
    const catalog = await open();
    expect(catalog.list().map(({ name, group }) => [name, group])).toEqual([
      ['one', ''],
      ['two', ''],
      ['three', 'etl/night'],
    ]);
    expect(catalog.list()).toBe(catalog.list());
  });

  it('keeps a broken file listed, without affecting the others', async () => {
    write('bad.yaml', 'steps: [');
    write('forbidden.yaml', yaml('x'));
    chmodSync(join(dagsDir, 'forbidden.yaml'), 0);
    symlinkSync('nowhere', join(dagsDir, 'dangling.yaml'));
    write('good.yaml', yaml('good'));
    const listed = (await open()).list();
    expect(listed.map(({ name, workflow }) => [name, workflow !== null])).toEqual(
      [
        ['bad', false],
        ['dangling', false],
        ['forbidden', process.getuid?.() === 0],
        ['good', true],
      ].map(([name, isGood]) => (name === 'forbidden' && isGood ? ['x', true] : [name, isGood])),
    );
    expect(listed.map(({ diagnostics }) => diagnostics[0]?.code).slice(0, 2)).toEqual(['yaml-syntax', 'unreadable']);
  });

  it('reports its directory once when it vanishes and once when it is back', async () => {
    writeOld('a.yaml', yaml('a'));
    const log: string[] = [];
    const catalog = await open(30, loadWorkflow, log);
    const missing = `the workflows directory "${dagsDir}" is missing or cannot be read: no workflow can start until it is back`;
    renameSync(dagsDir, join(root, 'away'));
    await soon(() => log).toEqual([missing]);
    expect(names(catalog)).toEqual([]);
    const looks = looksPlanned;
    await soon(() => looksPlanned).toBeGreaterThan(looks + 2);
    expect(log).toEqual([missing]);
    renameSync(join(root, 'away'), dagsDir);
    await soon(() => names(catalog)).toEqual(['a']);
    await soon(() => log).toEqual([missing, `the workflows directory "${dagsDir}" is back`]);
  });

  it('reports nothing for a directory that is exchanged for another', async () => {
    writeOld('a.yaml', yaml('a'));
    const log: string[] = [];
    const catalog = await open(30, loadWorkflow, log);
    renameSync(dagsDir, join(root, 'away'));
    mkdirSync(dagsDir);
    writeOld('b.yaml', yaml('b'));
    await soon(() => names(catalog)).toEqual(['b']);
    expect(log).toEqual([]);
  });

  it('reports added, changed and removed files', async () => {
    const old = writeOld('old.yaml', yaml('old'));
    const gone = writeOld('gone.yaml', yaml('gone'));
    const catalog = await open();
    const changes: CatalogChange[] = [];
    const stop = catalog.watch((change) => changes.push(change));
    const before = catalog.version();

    write('old.yaml', yaml('changed'));
    rmSync(gone);
    const fresh = write('new.yaml', yaml('new'));
    await soon(() => names(catalog)).toEqual(['new', 'changed']);
    expect(catalog.version()).toBeGreaterThan(before);
    await soon(() => changes.flatMap(({ removed }) => removed)).toEqual([gone]);
    expect(changes.flatMap(({ added }) => added)).toEqual([fresh]);
    expect(changes.flatMap(({ changed }) => changed)).toEqual([old]);

    stop();
    const told = changes.length;
    write('new.yaml', yaml('newer'));
    await soon(() => names(catalog)).toEqual(['newer', 'changed']);
    expect(changes.length).toBe(told);
  });

  it('is woken by the system before its next look', async () => {
    const catalog = await open(60_000);
    write('a.yaml', yaml('one'));
    await soon(() => names(catalog)).toEqual(['one']);
    mkdirSync(join(dagsDir, 'sub'));
    await soon(() => names(catalog)).toEqual(['one']);
    write('sub/b.yaml', yaml('two'));
    await soon(() => names(catalog)).toEqual(['one', 'two']);
  });

  it('sees a change that keeps size and time', async () => {
    writeOld('a.yaml', yaml('one'));
    const catalog = await open();
    writeOld('a.yaml', yaml('two'));
    await soon(() => names(catalog)).toEqual(['two']);
  });

  it('ignores a file that was written unchanged', async () => {
    const file = writeOld('a.yaml', yaml('one'));
    const catalog = await open();
    const [before, version] = [catalog.list(), catalog.version()];
    writeFileSync(file, yaml('one'));
    write('b.yaml', yaml('two'));
    await soon(() => names(catalog)).toEqual(['one', 'two']);
    await catalog.refresh();
    expect(catalog.list()[0]).toBe(before[0]);
    expect(catalog.version()).toBe(version + 1);
  });

  it('follows a file that breaks and is repaired', async () => {
    write('a.yaml', yaml('one'));
    const catalog = await open();
    write('a.yaml', 'steps: [');
    await soon(() => catalog.list().map(({ workflow, diagnostics }) => [workflow, diagnostics.length > 0])).toEqual([
      [null, true],
    ]);
    write('a.yaml', yaml('two'));
    await soon(() => names(catalog)).toEqual(['two']);
  });

  it('follows links to files, and new subdirectories', async () => {
    const target = join(root, 'target.yaml');
    writeFileSync(target, yaml('linked'));
    const catalog = await open();
    symlinkSync(target, join(dagsDir, 'link.yaml'));
    await soon(() => names(catalog)).toEqual(['linked']);
    writeFileSync(target, yaml('retold'));
    await soon(() => names(catalog)).toEqual(['retold']);
    mkdirSync(join(dagsDir, 'deep/er'), { recursive: true });
    write('deep/er/x.yaml', yaml('deep'));
    await soon(() => catalog.list().map(({ group }) => group)).toEqual(['deep/er', '']);
    rmSync(join(dagsDir, 'deep'), { recursive: true });
    await soon(() => names(catalog)).toEqual(['retold']);
  });

  it('handles a directory that appears later, disappears and returns', async () => {
    rmSync(dagsDir, { recursive: true });
    const catalog = await open(30, loadWorkflow, []);
    expect(catalog.list()).toEqual([]);
    mkdirSync(dagsDir);
    write('a.yaml', yaml('one'));
    await soon(() => names(catalog)).toEqual(['one']);
    renameSync(dagsDir, join(root, 'away'));
    await soon(() => names(catalog)).toEqual([]);
    mkdirSync(dagsDir);
    write('b.yaml', yaml('two'));
    await soon(() => names(catalog)).toEqual(['two']);
  });

  it('reads a file again when a file that it imports changes or appears', async () => {
    writeOld('main.yaml', 'imports: [lib]\nsteps:\n  - {name: a, command: echo, depends: [shared]}\n');
    writeOld('other.yaml', yaml('other'));
    const catalog = await open();
    const main = () => catalog.list().find(({ file }) => file.endsWith('main.yaml'));
    const other = catalog.list().find(({ name }) => name === 'other');
    expect(main()?.diagnostics.map(({ code }) => code)).toContain('import-not-found');
    write('lib.yaml', 'steps:\n  - {name: shared, command: echo one}\n');
    await soon(() => main()?.workflow?.steps.map(({ command }) => command)).toEqual(['echo one', 'echo']);
    write('lib.yaml', 'steps:\n  - {name: shared, command: echo two}\n');
    await soon(() => main()?.workflow?.steps[0]?.command).toBe('echo two');
    expect(catalog.list().find(({ name }) => name === 'other')).toBe(other);
  });

  it('reads everything again when the base changes', async () => {
    writeOld('a.yaml', yaml('one'));
    const catalog = await open();
    writeFileSync(join(root, 'base.yaml'), 'description: from the base\n');
    await soon(() => catalog.list()[0]?.workflow?.description).toBe('from the base');
    rmSync(join(root, 'base.yaml'));
    await soon(() => catalog.list()[0]?.workflow?.description).toBe('');
  });

  it.each(['created', 'replaced by an older file'])('sees that the base is %s while a file is read', async (how) => {
    const base = join(root, 'base.yaml');
    if (how !== 'created') writeAged(base, 'description: before\n', 1_700_000_100);
    writeOld('a.yaml', yaml('one'));
    let reads = 0;
    const catalog = await open(30, (request) => {
      const found = loadWorkflow(request);
      reads += 1;
      if (reads === 1) {
        writeAged(`${base}.new`, 'description: after\n', 1_700_000_000);
        renameSync(`${base}.new`, base);
      }
      return found;
    });
    await soon(() => catalog.list()[0]?.workflow?.description, { timeout: 5000 }).toBe('after');
    expect(reads).toBe(2);
  });

  it('sees that an import is replaced by an older file while it is read', async () => {
    mkdirSync(join(dagsDir, '.shared'));
    const lib = writeOld('.shared/lib.yaml', 'steps:\n  - {name: shared, command: echo one}\n');
    writeOld('a.yaml', 'imports: [.shared/lib]\nsteps:\n  - {name: a, command: echo, depends: [shared]}\n');
    let reads = 0;
    const catalog = await open(30, (request) => {
      const found = loadWorkflow(request);
      reads += 1;
      if (reads === 1) {
        writeAged(`${lib}.new`, 'steps:\n  - {name: shared, command: echo two}\n', 1_600_000_000);
        renameSync(`${lib}.new`, lib);
      }
      return found;
    });
    await soon(() => catalog.list()[0]?.workflow?.steps[0]?.command, { timeout: 5000 }).toBe('echo two');
    expect(reads).toBe(2);
  });

  it('never shows a half-written file', async () => {
    const file = writeOld('a.yaml', yaml('one'));
    const catalog = await open(10);
    const seen = new Set<string>();
    catalog.watch(() => seen.add(names(catalog).join()));
    const text = yaml('two');
    for (let length = 0; length <= text.length; length += 8) {
      writeFileSync(file, text.slice(0, length));
      await pause(15);
    }
    writeFileSync(file, text);
    await soon(() => names(catalog)).toEqual(['two']);
    expect([...seen]).toEqual(['two']);
  });

  it('finishes a slow scan while another file changes constantly', async () => {
    writeOld('a.yaml', yaml('one'));
    const slowly: LoadWorkflow = async (request) => {
      await pause(150);
      return loadWorkflow(request);
    };
    const catalog = await open(60_000, slowly);
    let count = 0;
    const noise = setInterval(() => write('a.log', String(count++)), 10);
    try {
      writeOld('a.yaml', yaml('two'));
      await soon(() => names(catalog), { timeout: 5000 }).toEqual(['two']);
      writeOld('a.yaml', yaml('three'));
      await soon(() => names(catalog), { timeout: 5000 }).toEqual(['three']);
    } finally {
      clearInterval(noise);
    }
  });

  it('keeps a file while an editor replaces it', async () => {
    const file = writeOld('a.yaml', yaml('one'));
    const catalog = await open(10);
    const removed: string[] = [];
    catalog.watch((change) => removed.push(...change.removed));
    renameSync(file, `${file}~`);
    await pause(60);
    write('.a.yaml.new', yaml('two'));
    renameSync(join(dagsDir, '.a.yaml.new'), file);
    await soon(() => names(catalog)).toEqual(['two']);
    expect(removed).toEqual([]);
  });

  it('knows of a change that it made itself', async () => {
    const catalog = await open(60_000);
    const file = write('a.yaml', yaml('one'));
    await catalog.refresh();
    expect(names(catalog)).toEqual(['one']);
    const { list, version } = catalog;
    const [before, number] = [list(), version()];
    await catalog.refresh();
    expect([list() === before, version()]).toEqual([true, number]);
    rmSync(file);
    await catalog.refresh();
    expect(names(catalog)).toEqual([]);
  });

  it('finds a file that was written just now', async () => {
    const catalog = await open(60_000);
    const added: string[] = [];
    catalog.watch((change) => added.push(...change.added));
    const file = write('a.yaml', yaml('one'));
    await catalog.findNew();
    expect([names(catalog), added]).toEqual([['one'], [file]]);
  });

  it('leaves files that are being changed or replaced to later when it looks for new ones', async () => {
    writeOld('a.yaml', yaml('one'));
    const moved = writeOld('b.yaml', yaml('two'));
    const catalog = await open(60_000);
    write('a.yaml', yaml('half'));
    renameSync(moved, `${moved}~`);
    write('c.yaml', yaml('three'));
    await catalog.findNew();
    expect(names(catalog)).toEqual(['one', 'two', 'three']);
  });

  it('shares one scan among all that look for new files meanwhile', async () => {
    let reads = 0;
    const directories = {
      base: null,
      get dagsDir() {
        reads += 1;
        return dagsDir;
      },
    };
    const catalog = await createCatalog(directories, { clock: systemClock, report: () => {}, pollMs: 60_000 });
    opened.push(catalog);
    reads = 0;
    await catalog.refresh();
    const perScan = reads;
    reads = 0;

    // The first scan has begun when the others ask, so these wait for the next.
    await Promise.all(Array.from({ length: 500 }, () => catalog.findNew()));
    expect(reads).toBe(2 * perScan);
  });

  it('answers those that look for new files when it is closed', async () => {
    const catalog = await open(60_000);
    const looks = [catalog.findNew(), catalog.findNew(), catalog.findNew()];
    catalog.close();
    await Promise.all(looks);
    expect(catalog.list()).toEqual([]);
  });

  it('is silent and holds no files after it is closed', async () => {
    const catalog = await open(10);
    let told = 0;
    catalog.watch(() => told++);
    catalog.close();
    write('a.yaml', yaml('one'));
    await pause(100);
    expect([told, catalog.list()]).toEqual([0, []]);
  });
});

describe('with a thousand files', () => {
  it('opens with pauses for others, then costs little and no descriptors', async () => {
    for (let i = 0; i < 1000; i++) {
      if (i < 10) mkdirSync(join(dagsDir, `g${i}`));
      writeOld(`g${i % 10}/w${i}.yaml`, yaml(`w${i}`));
    }
    let turns = 0;
    const counter = setInterval(() => turns++, 0);
    const descriptors = () => readdirSync('/proc/self/fd').length;
    const before = descriptors();
    const catalog = await open();
    clearInterval(counter);
    expect(catalog.list().length).toBe(1000);
    expect(turns).toBeGreaterThan(5);

    const version = catalog.version();
    for (let i = 0; i < 20; i++) await catalog.refresh();
    expect(catalog.version()).toBe(version);
    // One for the system's messages.
    expect(descriptors() - before).toBeLessThan(5);
    write('g3/w3.yaml', yaml('changed'));
    await soon(() => names(catalog).filter((name) => name === 'changed')).toEqual(['changed']);
  });
});
