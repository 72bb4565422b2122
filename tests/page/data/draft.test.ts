import { expect, test } from 'vitest';
import { type HeldRequest, holdDaemon, requestOf } from './held-daemon.ts';

holdDaemon();
const { dropDraft, openDraft } = await import('#page/data/workflows/edited-file.ts');

const READ = 'GET /api/v2/workflows/etl/source';
const SAVE = 'PUT /api/v2/workflows/etl/source';

/** Answers with a text whose tag is the text in quotes. */
function answer(request: HeldRequest, text: string) {
  request.answer(text, { tag: `"${text}"` });
}

/** Opens the file with the text `one`, and edits it. */
async function edit(text: string) {
  const opening = openDraft('etl');
  answer(await requestOf(READ), 'one');
  const draft = await opening;
  dropDraft(draft);
  draft.text.value = text;
  return draft;
}

test('a text that was read before a save does not replace the saved one', async () => {
  const draft = await edit('one');
  const following = draft.follow();
  const older = await requestOf(READ);
  draft.text.value = 'two';
  const saving = draft.save();
  (await requestOf(SAVE)).answer({}, { tag: '"two"' });
  expect(await saving).toBe(true);
  answer(older, 'one');
  answer(await requestOf(READ), 'two');
  await following;

  expect(draft.text.value).toBe('two');
  expect(draft.base.value).toEqual({ text: 'two', tag: '"two"' });
  expect(draft.theirs.value).toBeNull();
});

test('a change by another user that is read during a save is shown after it', async () => {
  const draft = await edit('two');
  const saving = draft.save();
  const request = await requestOf(SAVE);
  const following = draft.follow();
  const older = await requestOf(READ);
  request.answer({}, { tag: '"two"' });
  await saving;
  answer(older, 'three');
  answer(await requestOf(READ), 'three');
  await following;

  expect(draft.text.value).toBe('three');
});

test('a save whose response was lost counts as saved when it is repeated', async () => {
  const draft = await edit('two');
  const saving = draft.save();
  (await requestOf(SAVE)).answer({ detail: 'changed' }, { status: 412 });
  answer(await requestOf(READ), 'two');

  expect(await saving).toBe(true);
  expect(draft.base.value).toEqual({ text: 'two', tag: '"two"' });
  expect(draft.theirs.value).toBeNull();
  expect(draft.isDirty.value).toBe(false);
});

test('a save whose response was lost counts as saved when the file is read', async () => {
  const draft = await edit('two');
  const saving = draft.save();
  (await requestOf(SAVE)).answer({ detail: 'bad gateway' }, { status: 502 });
  expect(await saving).toBe(false);
  draft.text.value = 'two and more';
  const following = draft.follow();
  answer(await requestOf(READ), 'two');
  await following;

  expect(draft.base.value.text).toBe('two');
  expect(draft.text.value).toBe('two and more');
  expect(draft.theirs.value).toBeNull();
  expect(draft.failure.value).toBeNull();
});

test('a save over a change by another user is a conflict', async () => {
  const draft = await edit('two');
  const saving = draft.save();
  (await requestOf(SAVE)).answer({ detail: 'changed' }, { status: 412 });
  answer(await requestOf(READ), 'three');

  expect(await saving).toBe(false);
  expect(draft.theirs.value).toEqual({ text: 'three', tag: '"three"' });
  expect(draft.text.value).toBe('two');
});

test('the text of another user replaces the text after a save, also one that was saved before', async () => {
  const draft = await edit('two');
  const saving = draft.save();
  (await requestOf(SAVE)).answer({}, { tag: '"two"' });
  await saving;
  for (const text of ['three', 'two']) {
    const following = draft.follow();
    answer(await requestOf(READ), text);
    await following;
    expect(draft.text.value).toBe(text);
  }
  expect(draft.isDirty.value).toBe(false);
});
