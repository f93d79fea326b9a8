import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { answered } from './api.ts';
import { databaseOf, readLayers, uploadsIn } from './audit-templates.ts';
import { namesIn } from './ground.ts';
import type { KnownTemplate } from './known-templates.ts';
import { file, type Control, type Planted } from './planting.ts';

const BUILD_LIMIT_MS = 30_000;

/** Faults of templates and their builds. */
export const TEMPLATE_CONTROLS: readonly Control[] = [
  {
    name: 'a template that was built and is gone',
    expected: /template control-template-\d+ is gone/,
    plant: async (subject) => {
      const { template } = await built(subject);
      await answered(subject.api('DELETE', `/api/templates/${template.name}`));
      return () => forget(subject, template);
    },
  },
  {
    name: 'a template that was deleted and is there',
    expected: /template control-template-\d+ was deleted and is there/,
    plant: async (subject) => {
      const { template } = await built(subject);
      template.existence = 'gone';
      return () => remove(subject, template);
    },
  },
  {
    name: 'a template that no client created',
    expected: /no client created the template control-template-\d+/,
    plant: async (subject) => {
      const { template } = await built(subject);
      forget(subject, template);
      return () => remove(subject, template);
    },
  },
  {
    name: 'a build that no client created',
    expected: /no client created build \S+ of template control-template-\d+/,
    plant: async (subject) => {
      const { template } = await built(subject);
      template.builds.length = 0;
      return () => remove(subject, template);
    },
  },
  {
    name: 'a build that failed and was not interrupted',
    expected: /build n\d+ of template control-template-\d+ failed: .*exit code 1/,
    plant: async (subject) => {
      const { template } = await built(subject, { steps: [{ run: 'false' }] });
      return () => remove(subject, template);
    },
  },
  {
    name: 'a build that was ready and is gone',
    expected: /build n\d+ of template control-template-\d+, which was ready, is gone/,
    plant: async (subject) => {
      const { template } = await built(subject);
      subject.journal.buildEnded(subject.journal.beginBuild(template, new Map()), 'ready');
      return () => remove(subject, template);
    },
  },
  {
    name: 'a tag that names no build',
    expected: /tag latest of template control-template-\d+ names no build, expected \S+-\S+/,
    plant: async (subject) => {
      const { template } = await built(subject);
      await answered(subject.api('DELETE', `/api/templates/${template.name}/tags/latest`));
      return () => remove(subject, template);
    },
  },
  {
    name: 'a build that does not end',
    expected: /build \S+ of template control-template-\d+ is still building/,
    plant: async (subject) => {
      const { template } = await requested(subject, { steps: [{ run: 'sleep 1000' }] });
      return () => remove(subject, template);
    },
  },
  {
    name: 'a build that waits for its start',
    expected: /build \S+ of template control-template-\d+ is still waiting/,
    plant: async (subject) => {
      const { template, id } = await built(subject);
      change(subject, "UPDATE template_build SET status = 'waiting' WHERE id = ?", id);
      return () => remove(subject, template);
    },
  },
  {
    name: 'a sandbox of a build that has ended',
    expected: /sbx_\w+, a sandbox of build planted, is left over/,
    plant: async ({ api }) => {
      const json = { image: 'busybox', labels: { 'svc-template-build': 'planted' } };
      const { body } = await answered(api('POST', '/api/containers?wait_ms=30000', { json }));
      return async () => void (await answered(api('DELETE', `/api/containers/${String(body['id'])}`)));
    },
  },
  {
    name: 'a sandbox without the files of its template',
    expected: /\/built\/copied of sandbox .*: found nothing, expected \d+/,
    plant: async (subject) => {
      const { template } = await built(subject);
      const { api, journal, known } = subject;
      const json = {
        template: template.name,
        name: `${template.name}-sandbox`,
        labels: {},
        resources: known.wish.resources,
      };
      const { body } = await answered(api('POST', '/api/containers?wait_ms=30000', { json }));
      const files = new Map([['/built/copied', [journal.nextNumber()]]]);
      journal.made(journal.beginSandbox(json.name, { ...known.wish, name: json.name }, files), String(body['id']));
      return () => remove(subject, template);
    },
  },
  {
    name: 'the file of a layer that has no record',
    expected: /built\/tpl_planted\.json is left over/,
    plant: async (subject) => {
      const { template } = await built(subject);
      const undo = file(join(builtFolder(subject), 'tpl_planted.json'));
      return async () => {
        undo();
        await remove(subject, template);
      };
    },
  },
  {
    name: 'a layer without its file',
    expected: /the file of layer tpl_\w+ is missing/,
    plant: async (subject) => {
      const { template, layer } = await built(subject);
      const name = join(builtFolder(subject), `${layer}.json`);
      renameSync(name, join(subject.dataFolder, 'aside.json'));
      return async () => {
        renameSync(join(subject.dataFolder, 'aside.json'), name);
        await remove(subject, template);
      };
    },
  },
  {
    name: 'a layer that names another image',
    expected: /the file of layer tpl_\w+ names the image built-0, expected built-[0-9a-f]{64}/,
    plant: async (subject) => {
      const { template, layer } = await built(subject);
      writeFileSync(join(builtFolder(subject), `${layer}.json`), JSON.stringify({ digest: 'built-0' }));
      return () => remove(subject, template);
    },
  },
  {
    name: 'a layer whose image is not held',
    expected: /the hold of layer tpl_\w+ is missing/,
    plant: async (subject) => {
      const { template, layer } = await built(subject);
      const holds = join(subject.dataFolder, 'sandboxes/images/holds');
      const [name = ''] = namesIn(holds)
        .map((group) => join(holds, group, layer))
        .filter((each) => namesIn(join(each, '..')).includes(layer));
      const digest = readFileSync(name, 'utf8');
      renameSync(name, join(subject.dataFolder, 'aside'));
      return async () => {
        writeFileSync(name, digest);
        await remove(subject, template);
      };
    },
  },
  {
    name: 'a finished build whose layer has no record',
    expected: /layer tpl_\w+ of a finished build has no record/,
    plant: async (subject) => {
      const { template, id } = await built(subject);
      change(subject, "UPDATE template_build SET layer_id = 'tpl_planted' WHERE id = ?", id);
      return () => remove(subject, template);
    },
  },
  {
    name: 'half of an uploaded archive',
    expected: /template-files\/\S+\.new is left over/,
    plant: async (subject) => {
      await upload(subject);
      return file(`${uploadsIn(subject.dataFolder)[0]}.000000000000.new`);
    },
  },
  {
    name: 'an archive that was uploaded and is gone',
    expected: /the uploaded archive sha256-[0-9a-f]{64} is missing/,
    plant: async (subject) => {
      await upload(subject);
      const [name = ''] = uploadsIn(subject.dataFolder);
      renameSync(name, join(subject.dataFolder, 'aside'));
      return () => renameSync(join(subject.dataFolder, 'aside'), name);
    },
  },
];

interface Built {
  readonly template: KnownTemplate;
  readonly id: string;
  /** The layer that holds its image. */
  readonly layer: string;
}

/** Builds a template, whose end is ready as far as the journal knows only if it is. */
async function built(subject: Planted, fields: object = {}): Promise<Built> {
  const { template, id } = await requested(subject, fields);
  const deadline = performance.now() + BUILD_LIMIT_MS;
  while (performance.now() < deadline) {
    const path = `/api/templates/${template.name}/builds/${id}/logs?wait_ms=10000&after=1000`;
    const { status } = (await answered(subject.api('GET', path))).body;
    if (status !== 'ready' && status !== 'error') continue;
    for (const build of template.builds) subject.journal.buildEnded(build, status);
    const layer = readLayers(subject.dataFolder).find(({ buildId }) => buildId === id)?.id ?? '';
    return { template, id, layer };
  }
  throw new Error(`the build of ${template.name} does not end`);
}

async function requested({ api, journal }: Planted, fields: object): Promise<Omit<Built, 'layer'>> {
  const template = journal.beginTemplate(`control-template-${journal.nextNumber()}`);
  const { tag } = journal.beginBuild(template, new Map());
  const json = { from: 'busybox', tags: [tag, 'latest'], ...fields };
  const { body } = await answered(api('POST', `/api/templates/${template.name}/builds`, { json }));
  template.existence = 'there';
  return { template, id: String(body['id']) };
}

function forget({ journal }: Planted, template: KnownTemplate): void {
  journal.templates.splice(0, journal.templates.length, ...journal.templates.filter((each) => each !== template));
}

async function remove(subject: Planted, template: KnownTemplate): Promise<void> {
  forget(subject, template);
  await answered(subject.api('DELETE', `/api/templates/${template.name}`));
}

async function upload({ api, journal }: Planted): Promise<void> {
  const bytes = Buffer.from('an archive');
  const hash = createHash('sha256').update(bytes).digest('hex');
  await answered(api('PUT', `/api/templates/files/${hash}`, { bytes }));
  journal.uploads.set(hash, true);
}

/** Changes a record of the platform. */
function change({ dataFolder }: Planted, statement: string, id: string): void {
  using database = databaseOf(dataFolder, false);
  database.prepare(statement).run(id);
}

function builtFolder({ dataFolder }: Planted): string {
  return join(dataFolder, 'sandboxes/built');
}
