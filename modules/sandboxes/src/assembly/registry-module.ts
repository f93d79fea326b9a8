import { systemRandom, unlimitedDisk, type Clock } from '@svc/runtime';
import type { FindOwner, HttpApp } from '@svc/http';
import type { Kysely } from 'kysely';
import { createImageExports } from '../adapters/images/assembly.ts';
import type { ImageStore } from '../adapters/images/image-store.ts';
import { PlatformRegistry } from '../adapters/images/platform-registry.ts';
import type { ImageService } from '../domain/images/platform-images.ts';
import { nodeSubject, PullCredentials, type PullSubject } from '../domain/images/pull-credentials.ts';
import { registerRegistryRoutes } from '../routes/registry-routes.ts';
import { createPullCredentialRepository } from '../store/pull-credential-repository.ts';
import type { SandboxTables } from '../store/tables.ts';
import { createTemplateRepository } from '../store/template-repository.ts';
import type { SandboxesDependencies } from './dependencies.ts';

/** The registry for the nodes of clusters. */
export interface RegistryPart {
  readonly registry: PlatformRegistry;
  readonly imageService: ImageService;
  /** For requests that another node must serve. */
  readonly findNode: FindOwner;
  registerRoutes(app: HttpApp): Promise<void>;
  close(): Promise<void>;
}

export function createRegistryPart(
  deps: SandboxesDependencies,
  kysely: Kysely<SandboxTables>,
  images: ImageStore,
  clock: Clock,
): RegistryPart {
  const { config, node, clusters = null, audit, rights, secureUrl, dataFolder, helperBinaries } = deps;
  const { disk = unlimitedDisk, previewKey, quotaLimits } = deps;
  const own = nodeSubject(node).subject;
  const isCurrent = async ({ subject, workspaceUuid }: PullSubject): Promise<boolean> => {
    // Each node decides about its own, to which it also serves the images.
    if (workspaceUuid === null) return subject !== own || config.driver === 'kubernetes';
    return (await clusters?.findById(subject))?.workspaceUuid === workspaceUuid;
  };
  const credentials = new PullCredentials({
    repository: createPullCredentialRepository(kysely),
    key: previewKey,
    isCurrent,
    audit,
    clock,
    random: systemRandom,
  });
  const exports = createImageExports({ config, dataFolder, helperBinaries, disk, shareOf: quotaLimits.shareOf });
  const templates = createTemplateRepository(kysely);
  const imageService: ImageService = { secureUrl, servesAll: config.pod_images === 'platform' };
  const registry = new PlatformRegistry({ images, exports, credentials, templates, node, imageService, quotaLimits });
  return {
    registry,
    imageService,
    findNode: (id, workspaceUuid) => registry.findNode(id, workspaceUuid),
    registerRoutes: async (app) => {
      await app.register(async (scope) => registerRegistryRoutes(scope, { registry, exports, credentials, rights }));
    },
    close: () => exports.close(),
  };
}
