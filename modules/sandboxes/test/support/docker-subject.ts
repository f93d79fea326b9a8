import { createLogger } from '@svc/telemetry';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { Value } from 'typebox/value';
import { sandboxesConfigSchema } from '../../src/config.ts';
import { DockerDriver } from '../../src/adapters/drivers/docker/docker-driver.ts';
import { createOwners } from '../../src/adapters/drivers/docker/names.ts';
import type { DockerDriverOptions } from '../../src/adapters/drivers/docker/open-engine.ts';
import { createImageStore } from '../../src/adapters/images/assembly.ts';
import type { ImageEntry } from '../../src/domain/images/catalog.ts';
import { ImageCatalog } from '../../src/domain/images/catalog.ts';
import { helperBinaries, SHARED_IMAGES, testImage } from './local-subject.ts';

export interface DockerSubject {
  readonly driver: DockerDriver;
  readonly folder: TemporaryFolder;
  /** Another driver on the same engine and data, as after a platform restart. */
  again(changes?: Partial<DockerDriverOptions>): DockerDriver;
  dispose(): Promise<void>;
}

export interface DockerSubjectOptions {
  /** Path of the engine's socket. */
  readonly socket: string;
  readonly images?: readonly ImageEntry[];
}

export async function dockerSubject({ socket, images: more = [] }: DockerSubjectOptions): Promise<DockerSubject> {
  const folder = await temporaryFolder('svc-sandboxes-');
  const catalog = new ImageCatalog([testImage('busybox', { kind: 'busybox' }), ...more], 'busybox');
  const images = createImageStore({
    config: { ...Value.Create(sandboxesConfigSchema), image_cache: SHARED_IMAGES },
    catalog,
    dataFolder: folder.path,
    helperBinaries,
    nowMs: Date.now,
  });
  await images.open();
  const again = (changes: Partial<DockerDriverOptions> = {}): DockerDriver =>
    new DockerDriver({
      engine: { host: `unix://${socket}` },
      owners: createOwners('installation', 'node', folder.path),
      helperBinaries,
      catalog,
      images,
      logins: [],
      addressPrefix: '100.97',
      nameservers: [],
      network: null,
      log: createLogger({ level: 'error', name: 'test' }),
      ...changes,
    });
  const driver = again();
  return {
    driver,
    folder,
    again,
    dispose: async () => {
      if (driver.status().available) for (const each of await driver.list()) await driver.remove(each.id);
      await driver.close();
      await images.close();
      await folder.remove();
    },
  };
}
