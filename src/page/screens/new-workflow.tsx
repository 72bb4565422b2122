import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso';
import { pathOf, to } from '../api/address.ts';
import { createWorkflow } from '../data/workflows/file-requests.ts';
import { NameDialog } from '../parts/name-dialog.tsx';

/** The templates of `wf init` by file: a title in a comment, then a workflow. */
const files = import.meta.glob<string>('../../cli/assets/templates/*.yaml', {
  query: '?raw',
  import: 'default',
  eager: true,
});

const templates = Object.entries(files).map(([path, text]) => ({
  name: path.replace(/^.*\/|[.]yaml$/g, ''),
  title: text.split('\n', 1)[0]?.replace(/^# /, '') ?? '',
  text,
}));

/** Creates a workflow from a template and opens it in the editor. */
export function NewWorkflow({ onClose }: { onClose: () => void }) {
  const { route } = useLocation();
  const chosen = useSignal('basic');
  const create = async ({ name, group }: { name: string; group: string }) => {
    const text = templates.find((template) => template.name === chosen.value)?.text ?? '';
    const file = /^[\w.+-]+$/.test(name) ? `${name}.yaml` : `'${name}.yaml'`;
    const id = await createWorkflow(name, group, text.replaceAll('FILE', file));
    route(pathOf(to.edit(id)));
  };
  return (
    <NameDialog
      title="New workflow"
      action="Create"
      given={{ name: '', group: '' }}
      onSubmit={create}
      onClose={onClose}
    >
      <fieldset class="field templates">
        <legend>Template</legend>
        {templates.map(({ name, title }) => (
          <label key={name}>
            <input
              type="radio"
              name="template"
              checked={chosen.value === name}
              onChange={() => (chosen.value = name)}
            />
            <span>
              <strong>{name}</strong> <span class="quiet">{title}</span>
            </span>
          </label>
        ))}
      </fieldset>
    </NameDialog>
  );
}
