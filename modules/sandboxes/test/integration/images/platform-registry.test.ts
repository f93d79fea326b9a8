import { createSecretKey, randomBytes } from 'node:crypto';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { createInternalNetwork } from '@svc/forward/testing';
import { migrations } from '@svc/migrations';
import { unlimitedQuotas } from '@svc/quotas';
import { backgroundClock, systemRandom } from '@svc/runtime';
import type { Database } from '@svc/sql';
import {
  collectStream,
  describeRequiring,
  fakeAccess,
  fakeAudit,
  openMigratedFile,
  temporaryFolder,
  type FakeAccess,
} from '@svc/testing';
import { Value } from 'typebox/value';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createImageStore } from '../../../src/adapters/images/assembly.ts';
import type { ImageStore, PreparedImage } from '../../../src/adapters/images/image-store.ts';
import { packLayers } from '../../../src/adapters/images/pack-layers.ts';
import { sandboxesConfigSchema, type SandboxesConfig } from '../../../src/config.ts';
import { ImageCatalog } from '../../../src/domain/images/catalog.ts';
import { NO_SETTINGS } from '../../../src/domain/images/image-settings.ts';
import { nodeSubject, PullCredentials, type PullLogin } from '../../../src/domain/images/pull-credentials.ts';
import type { TemplateBuild } from '../../../src/domain/templates/template.ts';
import { createPullCredentialRepository } from '../../../src/store/pull-credential-repository.ts';
import type { SandboxTables } from '../../../src/store/tables.ts';
import { createTemplateRepository } from '../../../src/store/template-repository.ts';
import { FakeClusters } from '../../support/fake-clusters.ts';
import { FakeDriver } from '../../support/fake-driver.ts';
import { imageStoreSubject } from '../../support/image-store-subject.ts';
import { helperBinaries } from '../../support/local-subject.ts';
import { startPlatform, type TestPlatform } from '../../support/platform.ts';
import { tarArchive, type TarEntry } from '../../support/tar-archive.ts';

const NOISE = randomBytes(24 * 1024 * 1024); // more than sockets and buffers hold
const ROOT: readonly TarEntry[] = [
  { name: 'bin', type: 'folder' },
  { name: 'bin/tool', content: 'one', mode: 0o755, uid: 7, gid: 8 },
  { name: 'bin/same', type: 'link', target: 'bin/tool' },
  { name: 'bin/alias', type: 'symlink', target: 'tool' },
  { name: 'gone', type: 'folder' },
  { name: 'gone/file', content: 'x' },
  { name: 'marked', content: 'y', attributes: { 'user.note': 'kept' } },
  { name: 'noise', content: NOISE },
];
/** Removes one folder, empties another and changes a file. */
const CHANGES: readonly TarEntry[] = [
  { name: '.wh.gone', content: '' },
  { name: 'bin', type: 'folder' },
  { name: 'bin/.wh..wh..opq', content: '' },
  { name: 'bin/tool', content: 'two', mode: 0o700 },
];
const SETTINGS = { ...NO_SETTINGS, environment: { PATH: '/bin', NAME: 'a=b' }, workingFolder: '/bin' };
const MANIFEST = 'application/vnd.oci.image.manifest.v1+json';

interface Manifest {
  readonly config: { readonly digest: string; readonly size: number };
  readonly layers: readonly { readonly digest: string; readonly size: number }[];
}

/** Two nodes on one database. The first one has the images. */
describeRequiring(['linux', 'root'], 'the registry for the nodes of clusters', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let database: Database<unknown>;
  let access: FakeAccess;
  let clusters: FakeClusters;
  let drivers: FakeDriver[];
  let a: TestPlatform;
  let b: TestPlatform;
  let store: ImageStore;
  let credentials: PullCredentials;
  const audit = fakeAudit();
  /** Repositories. */
  let tools: string;
  let template: string;
  let home: string;
  let foreign: string;
  /** The workspace of the foreign cluster. */
  let elsewhere: string;

  beforeAll(async () => {
    folder = await temporaryFolder();
    database = await openMigratedFile<unknown>(join(folder.path, 'svc.db'), migrations);
    access = fakeAccess();
    drivers = [new FakeDriver(), new FakeDriver()];
    clusters = new FakeClusters(new FakeDriver());
    const archive = join(folder.path, 'root.tar');
    await writeFile(archive, tarArchive(ROOT));
    const network = await createInternalNetwork();
    const config = async (driver: SandboxesConfig['driver']) => ({
      driver,
      images: [{ name: 'tools', sources: [{ kind: 'rootfs_tar' as const, path: archive }] }],
      image_cache: await mkdtemp(join(folder.path, 'images-')),
    });
    const configs = { a: await config('kubernetes'), b: await config('local') };
    const start = (node: 'a' | 'b', driver: FakeDriver | undefined): Promise<TestPlatform> =>
      startPlatform({
        ...(driver === undefined ? {} : { driver }),
        node,
        access,
        database,
        network,
        nodes: { isLive: async () => true, live: async () => [node], silent: async () => [] },
        clusters: clusters.on(node),
        config: configs[node],
      });
    a = await start('a', drivers[0]);
    b = await start('b', drivers[1]);
    const { digest } = await a.module.prepareImage('tools', AbortSignal.timeout(60_000));
    tools = `svc-images/a/${digest}`;
    store = createImageStore({
      config: { ...Value.Create(sandboxesConfigSchema), image_cache: configs.a.image_cache },
      catalog: new ImageCatalog([], null),
      dataFolder: folder.path,
      helperBinaries,
      nowMs: Date.now,
    });
    await store.open();
    const signal = AbortSignal.timeout(60_000);
    const changed = await store.extend('layer', digest, async () => Readable.from([tarArchive(CHANGES)]), signal);
    const built = await store.configure('layer', changed.digest, SETTINGS, a.owner.workspaceUuid);
    template = await saveBuild(a.owner.workspaceUuid, built);
    home = clusters.add(a.owner.workspaceUuid, 'home');
    elsewhere = access.user('stranger@example.org').workspaceUuid;
    foreign = clusters.add(elsewhere, 'foreign');
    credentials = new PullCredentials({
      repository: createPullCredentialRepository((database as Database<SandboxTables>).kysely),
      key: async () => createSecretKey(Buffer.alloc(32, 7)), // as the platforms have it
      isCurrent: async () => true,
      audit,
      clock: backgroundClock,
      random: systemRandom,
    });
  }, 300_000);
  afterAll(async () => {
    await store?.close();
    await b?.dispose();
    await a?.dispose();
    for (const driver of drivers) await driver.dispose();
    await database?.close();
    await folder?.remove();
  });

  /** A finished build whose image node `a` has. Returns its repository. */
  async function saveBuild(workspaceUuid: string, digest: string): Promise<string> {
    const repository = createTemplateRepository((database as Database<SandboxTables>).kysely);
    const createdAt = new Date().toISOString();
    const limits = await unlimitedQuotas.readLimits(workspaceUuid);
    const id = `tpl_${digest.slice(-8)}`;
    const name = `made-${digest.slice(-8)}`;
    await repository.ensure({ id, workspaceUuid, name, ownerId: 'o', createdAt }, limits);
    const build: TemplateBuild = {
      id: systemRandom.uuid(),
      templateId: id,
      workspaceUuid,
      ownerId: 'o',
      node: 'a',
      status: 'ready',
      tags: [],
      failure: null,
      resources: { cpuMillis: 500, memoryMb: 64, diskMb: 128, pids: 32 },
      outcome: null,
      layerId: 'layer',
      digest,
      createdAt,
      startedAt: null,
      finishedAt: createdAt,
      archivedAt: null,
      archiveError: null,
    };
    await repository.insertBuild(build, limits);
    return `svc-templates/${build.id}/${digest}`;
  }

  const loginOf = (cluster: string): Promise<PullLogin> =>
    credentials.issue({
      subject: cluster,
      workspaceUuid: cluster === foreign ? elsewhere : a.owner.workspaceUuid,
    });
  const basic = ({ username, password }: PullLogin): string =>
    `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  const get = async (path: string, login: PullLogin | null, init: RequestInit = {}, at = a): Promise<Response> => {
    const headers = { ...(login === null ? {} : { authorization: basic(login) }), ...init.headers };
    return fetch(`${at.url}/v2/${path}`, { ...init, headers });
  };
  const refusal = async (path: string, login: PullLogin | null, init: RequestInit = {}): Promise<unknown[]> => {
    const response = await get(path, login, init);
    const { errors } = (await response.json()) as { errors: { code: string }[] };
    return [response.status, errors[0]?.code];
  };
  const manifestOf = async (repository: string, login: PullLogin): Promise<Manifest> =>
    (await (await get(`${repository}/manifests/image`, login)).json()) as Manifest;

  /** Pulls with the client of this project into a store of its own, and returns the files as one archive. */
  async function pull(repository: string, login: PullLogin, at: TestPlatform): Promise<[Buffer, PreparedImage]> {
    await using subject = await imageStoreSubject();
    const { host } = new URL(at.url);
    const reference = `${host}/${repository}:image`;
    const pulled = await subject.open({ it: [{ kind: 'registry', reference }] }, { settings: [{ host, ...login }] });
    try {
      const image = await pulled.prepare('it', AbortSignal.timeout(60_000));
      return [await filesOf(image), image];
    } finally {
      await pulled.close();
    }
  }

  async function filesOf({ layers }: PreparedImage): Promise<Buffer> {
    const { file } = await helperBinaries(process.arch);
    const { archive, ended } = packLayers(file, layers, AbortSignal.timeout(60_000));
    const content = await collectStream(archive);
    expect(await ended).toBeNull();
    return content;
  }

  const stored = async (repository: string): Promise<PreparedImage> => {
    const image = await store.byDigest(repository.split('/')[2] ?? '');
    if (image === null) throw new Error(`no image ${repository}`);
    return image;
  };

  it('serves an image of the catalog with the same files', async () => {
    const [files] = await pull(tools, await loginOf(home), a);
    expect(files.equals(await filesOf(await stored(tools)))).toBe(true);
  });

  it('serves a template with its settings, and shares the layers of its base image', async () => {
    const login = await loginOf(home);
    const [files, image] = await pull(template, login, a);
    expect(files.equals(await filesOf(await stored(template)))).toBe(true);
    expect(image.settings).toEqual(SETTINGS);
    const [base, own] = [await manifestOf(tools, login), await manifestOf(template, login)];
    expect(own.layers).toHaveLength(2);
    expect(own.layers[0]).toEqual(base.layers[0]);
  });

  it('serves them at another node, which has none of them', async () => {
    const login = await loginOf(home);
    for (const repository of [tools, template]) {
      const [files] = await pull(repository, login, b);
      expect(files.equals(await filesOf(await stored(repository)))).toBe(true);
    }
  });

  it('answers HEAD, digests and ranges', async () => {
    const login = await loginOf(home);
    const tagged = await get(`${tools}/manifests/image`, login, { headers: { accept: MANIFEST } });
    const digest = tagged.headers.get('docker-content-digest') ?? '';
    expect([tagged.status, tagged.headers.get('content-type')]).toEqual([200, MANIFEST]);
    expect((await get(`${tools}/manifests/${digest}`, login)).status).toBe(200);
    expect((await get(`${tools}/manifests/image`, login, { method: 'HEAD' })).status).toBe(200);
    const { config, layers } = await manifestOf(tools, login);
    expect((await get(`${tools}/blobs/${config.digest}`, login)).headers.get('content-length')).toBe(`${config.size}`);
    const [layer] = layers;
    const path = `${tools}/blobs/${layer?.digest ?? ''}`;
    const head = await get(path, login, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length')]).toEqual([200, `${layer?.size ?? 0}`]);
    const part = await get(path, login, { headers: { range: 'bytes=10-19' } });
    expect([part.status, (await part.arrayBuffer()).byteLength]).toEqual([206, 10]);
  });

  it('names the scheme to clients that ask first, and needs no credential for that', async () => {
    const response = await get('', null);
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([
      200,
      expect.stringMatching(/^Basic /),
    ]);
  });

  describe('refuses', () => {
    it('everything without a valid credential, whether or not it exists', async () => {
      const login = await loginOf(home);
      const wrong = [
        null,
        { ...login, password: `${login.password.slice(0, -1)}${login.password.endsWith('A') ? 'B' : 'A'}` },
        { ...login, username: foreign },
        { username: '', password: login.password },
        { username: home, password: 'svc_spc_none' },
      ];
      const blob = `blobs/sha256:${'0'.repeat(64)}`;
      for (const repository of [tools, template, `svc-images/a/sha256-${'0'.repeat(64)}`, 'svc-images/none/x']) {
        for (const each of wrong) {
          expect(await refusal(`${repository}/manifests/image`, each)).toEqual([401, 'UNAUTHORIZED']);
          expect(await refusal(`${repository}/${blob}`, each)).toEqual([401, 'UNAUTHORIZED']);
        }
      }
      const { headers } = await get(`${tools}/manifests/image`, null);
      expect(headers.get('www-authenticate')).toMatch(/^Basic realm=/);
      const bearer = { headers: { authorization: a.owner.headers['authorization'] ?? 'Bearer none' } };
      expect(await refusal(`${tools}/manifests/image`, null, bearer)).toEqual([401, 'UNAUTHORIZED']);
    });

    it('templates of other workspaces, and built images under any other name', async () => {
      const stranger = await loginOf(foreign);
      const { layers } = await manifestOf(template, await loginOf(home));
      expect(await refusal(`${template}/manifests/image`, stranger)).toEqual([404, 'MANIFEST_UNKNOWN']);
      for (const { digest } of layers) {
        expect(await refusal(`${template}/blobs/${digest}`, stranger)).toEqual([404, 'MANIFEST_UNKNOWN']);
      }
      const [, build = '', built = ''] = template.split('/');
      const catalog = tools.split('/')[2] ?? '';
      for (const login of [stranger, await loginOf(home)]) {
        for (const name of [`svc-images/a/${built}`, `svc-images/b/${catalog}`, `svc-templates/${build}/${catalog}`]) {
          expect(await refusal(`${name}/manifests/image`, login)).toEqual([404, 'MANIFEST_UNKNOWN']);
        }
      }
      expect((await get(`${tools}/manifests/image`, stranger)).status).toBe(200); // the catalog is everybody's
    });

    it('other tags, blobs and methods, and names that are none', async () => {
      const login = await loginOf(home);
      expect(await refusal(`${tools}/manifests/latest`, login)).toEqual([404, 'MANIFEST_UNKNOWN']);
      expect(await refusal(`${tools}/blobs/sha256:${'0'.repeat(64)}`, login)).toEqual([404, 'BLOB_UNKNOWN']);
      expect(await refusal(`${tools}/blobs/..%2F..%2Fimage.json`, login)).toEqual([404, 'BLOB_UNKNOWN']);
      expect((await get('svc-images/a/..%2F..%2Fx/manifests/image', login)).status).toBe(400);
      expect((await get(`${tools}/manifests/image`, login, { method: 'PUT', body: '{}' })).status).toBe(405);
      expect((await get(`${tools}/manifests/image`, login, { method: 'DELETE' })).status).toBe(405);
    });

    it('the credential of a node for its own cluster everything but the catalog of that node', async () => {
      const own = await credentials.issue(nodeSubject('a'));
      expect((await get(`${tools}/manifests/image`, own)).status).toBe(200);
      expect(await refusal(`${template}/manifests/image`, own)).toEqual([404, 'MANIFEST_UNKNOWN']);
      const other = await credentials.issue(nodeSubject('c'));
      expect(await refusal(`${tools}/manifests/image`, other)).toEqual([404, 'MANIFEST_UNKNOWN']);
    });
  });

  describe('revokes', () => {
    /** A download that is read slowly, for at least twenty seconds, and after how long it is cut. */
    async function download(repository: string, login: PullLogin): Promise<() => Promise<number>> {
      const { layers } = await manifestOf(repository, login);
      const response = await get(`${repository}/blobs/${layers[0]?.digest ?? ''}`, login);
      const reader = response.body?.getReader();
      await reader?.read();
      return async () => {
        const startedAt = performance.now();
        try {
          while ((await reader?.read())?.done === false) await new Promise((next) => setTimeout(next, 50));
        } catch {
          return performance.now() - startedAt;
        }
        throw new Error('the download ended as if nothing had happened');
      };
    }

    it('a template at once when it is deleted, also what is being downloaded', async () => {
      const login = await loginOf(home);
      const repository = await saveBuild(
        a.owner.workspaceUuid,
        await store.configure('other', await imageOf(tools), NO_SETTINGS, a.owner.workspaceUuid),
      );
      expect((await get(`${repository}/manifests/image`, login)).status).toBe(200);
      const cut = await download(repository, login);
      const id = `tpl_${repository.slice(-8)}`;
      expect((await a.call('DELETE', `/api/templates/${id}`)).status).toBeLessThan(300);
      expect(await refusal(`${repository}/manifests/image`, login)).toEqual([404, 'MANIFEST_UNKNOWN']);
      expect(await cut()).toBeLessThan(8000);
    });

    it('a credential that nothing replaced a day after its 30 days, also what is being downloaded', async () => {
      const login = await loginOf(home);
      const cut = await download(tools, login);
      const createdAt = new Date(Date.now() - 32 * 86_400_000).toISOString();
      await (database as Database<SandboxTables>).kysely
        .updateTable('sandbox_pull_credential')
        .set({ created_at: createdAt })
        .where('subject', '=', home)
        .execute();
      expect(await refusal(`${tools}/manifests/image`, login)).toEqual([401, 'UNAUTHORIZED']);
      expect(await cut()).toBeLessThan(8000);
    });

    it('the credential at once when its cluster is removed, also what is being downloaded', async () => {
      const login = await loginOf(home);
      const cut = await download(tools, login);
      clusters.remove(home);
      expect(await refusal(`${tools}/manifests/image`, login)).toEqual([401, 'UNAUTHORIZED']);
      expect(await cut()).toBeLessThan(8000);
      clusters.add(a.owner.workspaceUuid, 'home');
      expect(await refusal(`${tools}/manifests/image`, login)).toEqual([401, 'UNAUTHORIZED']); // it is another one now
    });
  });

  const imageOf = async (repository: string): Promise<string> => (await stored(repository)).digest;

  it('audits each new credential, without the password', () => {
    const entries = JSON.stringify(audit.entries);
    expect(entries).toContain(`"subject":"${home}"`);
    expect(entries).not.toContain('svc_spc_');
  });
});
