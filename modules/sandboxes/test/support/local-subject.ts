import type { ServeMount } from '../../src/adapters/drivers/local/local-mounts.ts';
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createHelperBinaries } from '@svc/helper-binary';
import { makeServerCertificate } from '@svc/certificates';
import { createLogger } from '@svc/telemetry';
import { requirement, temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { Value } from 'typebox/value';
import { sandboxesConfigSchema } from '../../src/config.ts';
import { newSandboxId } from '../../src/domain/identifiers.ts';
import type { IssueCertificate } from '../../src/adapters/drivers/local/gateway/host-certificates.ts';
import { LocalDriver } from '../../src/adapters/drivers/local/local-driver.ts';
import type { RuntimeKind } from '../../src/adapters/drivers/local/runtime.ts';
import { ImageCatalog, type ImageEntry, type ImageSourceSpec } from '../../src/domain/images/catalog.ts';
import type { ImageStore } from '../../src/adapters/images/image-store.ts';
import { createImageStore } from '../../src/adapters/images/assembly.ts';

const PROJECT = join(import.meta.dirname, '../../../..');

/** The real helper, from the project's cache. */
export const helperBinaries = createHelperBinaries({
  root: PROJECT,
  environment: process.env,
  progress: (line) => process.stderr.write(`${line}\n`),
});
/** All suites share the images: built once and kept between runs. */
export const SHARED_IMAGES = join(PROJECT, '.cache/sandbox-images');

const issueCertificate: IssueCertificate = (authority, host) => makeServerCertificate(authority, [host], new Date());

export interface LocalSubject {
  readonly driver: LocalDriver;
  readonly images: ImageStore;
  readonly folder: TemporaryFolder;
  readonly runFolder: string;
  /** Another driver on the same data, as after a platform restart. */
  again(): LocalDriver;
  dispose(): Promise<void>;
}

/** The kind of the subject's prepared starts. */
export const PREPARED_KIND = {
  resources: { cpuMillis: 1000, memoryMb: 128, diskMb: 64, pids: 64 },
  network: 'egress',
} as const;

/** Why the local driver cannot run here; null if it can. */
export function localDriverReason(runtime: RuntimeKind = 'builtin'): string | null {
  return requirement(
    'linux',
    'root',
    'cgroups',
    runtime === 'builtin' ? 'command:crun' : `command:${runtime}`,
    'command:mkfs.ext4',
    'command:nft',
    'command:busybox',
    'command:mmdebstrap',
  );
}

export async function localSubject(
  runtime: RuntimeKind = 'builtin',
  {
    nameservers = [],
    refused = () => undefined,
    serveMount = async (_id, _index, _request, response) => void response.destroy(),
    runsc = null,
    preparedStarts = 0,
    hasOwnImages = false,
  }: {
    nameservers?: readonly string[];
    refused?: (sandboxId: string, host: string) => void;
    serveMount?: ServeMount;
    runsc?: string | null;
    preparedStarts?: number;
    /** Has no image that another subject has prepared. */
    hasOwnImages?: boolean;
  } = {},
): Promise<LocalSubject> {
  const folder = await temporaryFolder('svc-sandboxes-');
  const runFolder = `/run/svc/test-${folder.path.slice(-6).toLowerCase()}`;
  const catalog = new ImageCatalog(
    [
      testImage('busybox', { kind: 'busybox' }),
      testImage('debian', { kind: 'debootstrap', suite: 'host', packages: [] }),
    ],
    'debian',
  );
  const images = createImageStore({
    config: {
      ...Value.Create(sandboxesConfigSchema),
      image_cache: hasOwnImages ? join(folder.path, 'images') : SHARED_IMAGES,
    },
    catalog,
    dataFolder: folder.path,
    helperBinaries,
    nowMs: Date.now,
  });
  await images.open();
  const again = (): LocalDriver =>
    new LocalDriver({
      dataFolder: join(folder.path, 'sandboxes'),
      runFolder,
      helperBinaries,
      images,
      runtime,
      isolation: 'namespaces',
      runsc,
      addressPrefix: '100.96',
      nameservers,
      egressRefused: refused,
      serveMount,
      tenants: { workspaceOf: async (sandboxId) => sandboxId, shareOf: (workspaceUuid) => workspaceUuid },
      issueCertificate,
      prepared: { ...PREPARED_KIND, count: preparedStarts },
      newId: () => newSandboxId(randomBytes),
      log: createLogger({ level: 'warn', name: 'test' }),
    });
  const driver = again();
  return {
    driver,
    images,
    folder,
    runFolder,
    again,
    dispose: async () => {
      if (driver.status().available) for (const each of await driver.list()) await driver.remove(each.id);
      await driver.close();
      await images.close();
      await folder.remove();
      await rm(runFolder, { recursive: true, force: true });
    },
  };
}

/** A catalog entry for tests. */
export function testImage(name: string, source: ImageSourceSpec): ImageEntry {
  return {
    name,
    displayName: name,
    description: '',
    category: 'os',
    tags: [],
    popular: true,
    aliases: [],
    sources: [source],
  };
}
