import { relative } from 'node:path/posix';
import { tarArchive } from '@svc/sandboxes/testing/tar-archive';
import { ask, is, mayBe, pathOf, pick, type Client } from './client.ts';
import type { KnownSandbox } from './journal.ts';
import type { Contents } from './known.ts';

const FILES = ['/root/one', '/root/two', '/srv/three'] as const;
/** Where a sandbox mounts its volume. */
export const VOLUME_FOLDER = '/volume';
const VOLUME_FILES = [`${VOLUME_FOLDER}/four`, `${VOLUME_FOLDER}/five`] as const;

function filesOf({ volume }: KnownSandbox): readonly string[] {
  return volume === null ? FILES : [...FILES, ...VOLUME_FILES];
}

/** Paths that clients wrote to, also in an earlier sandbox with the same volume. */
export function writtenFiles({ files, volume }: KnownSandbox): string[] {
  return [...files.keys(), ...(volume?.files.keys() ?? [])];
}

/** The sandbox or its volume, whichever has the file. */
function ownerOf(sandbox: KnownSandbox, path: string): Pick<KnownSandbox, 'files'> {
  return sandbox.volume !== null && path.startsWith(`${VOLUME_FOLDER}/`) ? sandbox.volume : sandbox;
}

function contentsOf(sandbox: KnownSandbox, path: string): Contents {
  return ownerOf(sandbox, path).files.get(path) ?? [null];
}

function setContents(sandbox: KnownSandbox, path: string, contents: Contents): void {
  const owner = ownerOf(sandbox, path);
  owner.files = new Map(owner.files).set(path, contents);
}

/** Accessing a paused sandbox resumes it. */
function used(sandbox: KnownSandbox): void {
  if (sandbox.states.has('paused')) mayBe(sandbox, 'running');
}

export async function writeFile(client: Client, sandbox: KnownSandbox): Promise<boolean> {
  const { journal, random } = client;
  const path = pick(random, filesOf(sandbox)) ?? FILES[0];
  const content = journal.nextNumber();
  setContents(sandbox, path, [...contentsOf(sandbox, path), content]);
  used(sandbox);
  const bytes = journal.bytesOf(content);
  const { isGood } = await ask(client, sandbox, 'POST', pathOf(sandbox, `/files?path=${path}&create_dirs=true`), {
    bytes,
  });
  if (!isGood) return false; // it may have happened before the connection to the sandbox broke
  setContents(sandbox, path, [content]);
  is(sandbox, 'running');
  return true;
}

/** Writes all files of the disk or the volume at once; each then has its old or its new content, whatever interrupts it. */
export async function unpackArchive(client: Client, sandbox: KnownSandbox): Promise<boolean> {
  const { journal, random } = client;
  const [folder, files] =
    sandbox.volume !== null && random() < 0.5 ? ([VOLUME_FOLDER, VOLUME_FILES] as const) : (['/', FILES] as const);
  const sent = files.map((path) => ({ path, content: journal.nextNumber() }));
  for (const { path, content } of sent) setContents(sandbox, path, [...contentsOf(sandbox, path), content]);
  used(sandbox);
  const bytes = tarArchive(
    sent.map(({ path, content }) => ({ name: relative(folder, path), content: journal.bytesOf(content) })),
  );
  const { isGood } = await ask(client, sandbox, 'PUT', pathOf(sandbox, `/files/archive?path=${folder}`), { bytes });
  if (!isGood) return false;
  for (const { path, content } of sent) setContents(sandbox, path, [content]);
  is(sandbox, 'running');
  return true;
}

export async function readFile(client: Client, sandbox: KnownSandbox): Promise<boolean> {
  const path = pick(client.random, writtenFiles(sandbox));
  if (path === undefined) return false;
  used(sandbox);
  const wrong = await wrongContent(client, sandbox, path);
  if (wrong !== null) client.journal.wrong(wrong);
  return wrong === null;
}

/** Checks a file of a running sandbox; the content found is expected from then on. */
export async function wrongContent(
  { api, journal }: Pick<Client, 'api' | 'journal'>,
  sandbox: KnownSandbox,
  path: string,
): Promise<string | null> {
  const answer = await api('GET', pathOf(sandbox, `/files?path=${path}`));
  if (answer === null || (sandbox.isDoubtful && answer.status !== 200)) return null;
  const possible = contentsOf(sandbox, path);
  const subject = `${path} of sandbox ${sandbox.label} (${sandbox.id})`;
  if (answer.status !== 200 && answer.status !== 404) {
    return `${subject}: answered ${answer.status}: ${answer.bytes.toString('utf8')}`;
  }
  const found = possible.find((content) =>
    content === null ? answer.status === 404 : answer.status === 200 && journal.bytesOf(content).equals(answer.bytes),
  );
  if (found === undefined) {
    const is = answer.status === 404 ? 'nothing' : `${answer.bytes.length} other bytes`;
    return `${subject}: found ${is}, expected ${possible.map((content) => content ?? 'nothing').join(' or ')}`;
  }
  setContents(sandbox, path, [found]);
  return null;
}

/** Some commands leave a background process, which must end with its sandbox. */
export async function execute(client: Client, sandbox: KnownSandbox): Promise<boolean> {
  const word = `said-${client.journal.nextNumber()}`;
  const background = client.random() < 0.3 ? '(sleep 1000 >/dev/null 2>&1 &); ' : '';
  used(sandbox);
  const json = { command: `${background}echo ${word}` };
  const { answer, isGood } = await ask(client, sandbox, 'POST', pathOf(sandbox, '/exec'), { json });
  if (!isGood) return false;
  const { stdout, exit_code: exitCode } = answer.body;
  if ((stdout !== `${word}\n` || exitCode !== 0) && !sandbox.isDoubtful) {
    client.journal.wrong(
      `sandbox ${sandbox.label} (${sandbox.id}) ran echo and answered ${JSON.stringify(answer.body)}`,
    );
  }
  is(sandbox, 'running');
  return true;
}
