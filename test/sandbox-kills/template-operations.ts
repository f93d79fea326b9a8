import { createHash } from 'node:crypto';
import { tarArchive } from '@svc/sandboxes/testing/tar-archive';
import type { BuildRecord } from './api.ts';
import { ask, pick, type Client } from './client.ts';
import { wrongContent } from './file-operations.ts';
import type { Contents } from './known.ts';
import type { KnownBuild, KnownTemplate } from './known-templates.ts';
import { createFrom } from './lifecycle-operations.ts';
import { sourceOf, templateSource } from './sources.ts';

const MOST_TEMPLATES = 2;
const MOST_BUILDS = 4;
/** A build takes seconds, and waits for those of the other clients. */
const BUILD_LIMIT_MS = 120_000;
const LOG_WAIT_MS = 10_000;
const RUN_FILE = '/srv/three';
const COPIED_FILE = '/built/copied';
/** Removed from the image. */
const REMOVED_FILE = '/bin/vi';

export function mayBuild({ templates, lacks }: Client): boolean {
  return lacks?.has('templates') !== true && (templates.length < MOST_TEMPLATES || templates.some(takesBuilds));
}

/** Builds a template and creates a sandbox from it; sometimes deletes the template during the build instead. */
export async function buildTemplate(client: Client): Promise<boolean> {
  const { journal, random, name, templates } = client;
  const plan = await planBuild(client);
  if (plan === null) return false;
  const again = random() < 0.5 || templates.length >= MOST_TEMPLATES;
  const known = again ? pick(random, templates.filter(takesBuilds)) : undefined;
  const template = known ?? journal.beginTemplate(`${name}-template-${journal.nextNumber()}`);
  if (!templates.includes(template)) templates.push(template);
  const build = journal.beginBuild(template, plan.files);
  const json = { ...plan.body, tags: [build.tag, 'latest'] };
  const { answer, isGood } = await ask(client, null, 'POST', `/api/templates/${template.name}/builds`, { json });
  if (!isGood) return false;
  template.existence = 'there';
  if (random() < 0.15) return remove(client, template);
  const { id } = answer.body as unknown as BuildRecord; // as the API documents it
  const end = await endOf(client, `/api/templates/${template.name}/builds/${id}`);
  if (end === null) return false;
  journal.buildEnded(build, end);
  return end === 'ready' && (await checkBuild(client, template, build));
}

export async function removeTemplate(client: Client): Promise<boolean> {
  const template = pick(client.random, client.templates.filter(isThere));
  return template !== undefined && remove(client, template);
}

function isThere({ existence }: KnownTemplate): boolean {
  return existence === 'there';
}

function takesBuilds({ existence, builds }: KnownTemplate): boolean {
  return existence === 'there' && builds.length < MOST_BUILDS;
}

interface Plan {
  readonly body: object;
  readonly files: ReadonlyMap<string, Contents>;
}

/** Steps that remove, write and copy files, on an image or another template. Null if the upload was refused. */
async function planBuild(client: Client): Promise<Plan | null> {
  const { journal, random } = client;
  const base = random() < 0.3 ? templateSource(client) : null;
  const files = new Map<string, Contents>(base?.files).set(REMOVED_FILE, [null]);
  // The same for all builds on an image, so that later ones take it from the cache.
  const steps: object[] = [{ run: `rm -f ${REMOVED_FILE} && mkdir -p /built /srv` }];
  if (random() < 0.6) {
    const content = journal.nextNumber();
    const hash = await upload(client, tarArchive([{ name: 'copied', content: journal.bytesOf(content) }]));
    if (hash === null) return null;
    files.set(COPIED_FILE, [content]);
    steps.push({ copy: { sources: ['copied'], destination: '/built/', files: hash } });
  }
  const content = journal.nextNumber();
  const { line, count } = journal.linesOf(content);
  files.set(RUN_FILE, [content]);
  steps.push({ run: `yes '${line}' | head -n ${count} >${RUN_FILE}` });
  const programs =
    random() < 0.25 ? { start_command: 'touch /started; sleep 1000', ready_command: 'test -e /started' } : {};
  return { body: { from: base?.fields.template ?? 'busybox', steps, ...programs }, files };
}

/** Returns the hash of the archive; null if it was refused. */
async function upload(client: Client, bytes: Buffer): Promise<string | null> {
  const hash = createHash('sha256').update(bytes).digest('hex');
  client.journal.uploads.set(hash, false);
  const { isGood } = await ask(client, null, 'PUT', `/api/templates/files/${hash}`, { bytes });
  client.journal.uploads.set(hash, isGood);
  return isGood ? hash : null;
}

/** Waits for the end of a build. Null if it is unknown. */
async function endOf(client: Client, path: string): Promise<'ready' | 'error' | null> {
  const deadline = performance.now() + BUILD_LIMIT_MS;
  let after = 0;
  while (performance.now() < deadline) {
    const { answer, isGood } = await ask(client, null, 'GET', `${path}/logs?after=${after}&wait_ms=${LOG_WAIT_MS}`);
    if (!isGood) return null;
    const { status, next } = answer.body;
    if (status === 'ready' || status === 'error') return status;
    after = Number(next);
  }
  client.journal.wrong(`${path} did not end within ${BUILD_LIMIT_MS} ms`);
  return null;
}

/** Checks the files of a sandbox that is created from the build. */
async function checkBuild(client: Client, template: KnownTemplate, build: KnownBuild): Promise<boolean> {
  const sandbox = await createFrom(client, sourceOf(template.name, build));
  if (sandbox === null) return false;
  for (const path of build.files.keys()) {
    const wrong = await wrongContent(client, sandbox, path);
    if (wrong !== null) client.journal.wrong(wrong);
  }
  return true;
}

async function remove(client: Client, template: KnownTemplate): Promise<boolean> {
  template.existence = 'open';
  const { isGood } = await ask(client, null, 'DELETE', `/api/templates/${template.name}`);
  if (isGood) template.existence = 'gone';
  return isGood;
}
