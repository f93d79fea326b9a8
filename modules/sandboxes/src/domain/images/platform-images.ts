import type { SandboxDriver } from '../driver.ts';
import type { SandboxTemplate } from '../templates/sandbox-template.ts';
import { sandboxErrors } from '../../errors.ts';
import type { ImageCatalog } from './catalog.ts';
import type { PullLogin } from './pull-credentials.ts';

/** Images that the platform serves to the nodes of one cluster. The methods throw IMAGE_PULL_FAILED. */
export interface PlatformImages {
  /** Whether it serves also images that registries have. */
  readonly servesAll: boolean;
  /** Whether its sandboxes can be created from templates. */
  readonly hasTemplates: boolean;
  /** The reference of an image of the catalog, which is made first if needed. */
  ofCatalog(image: string, signal: AbortSignal): Promise<string>;
  /** The reference of a built image, which is made first if this node has it. */
  ofTemplate(template: SandboxTemplate, signal: AbortSignal): Promise<string>;
  /** Host of the references, and what the nodes log in with. */
  login(): Promise<PullLogin & { readonly host: string }>;
}

/** How the platform serves images to nodes. */
export interface ImageService {
  /** URL for clients that require TLS, as nodes do. */
  readonly secureUrl: () => string;
  /** Whether it serves also images that registries have. */
  readonly servesAll: boolean;
}

/** Addresses that mean the machine that uses them. */
const OWN_MACHINE = /^(localhost|.*\.localhost|127(\.\d+){3}|0\.0\.0\.0|\[::1?\])$/;

/** Why nodes cannot pull from the platform at its URL for TLS; null if nothing speaks against it. */
export function whyUnreachable(secureUrl: string): string | null {
  if (!OWN_MACHINE.test(new URL(secureUrl).hostname)) return null;
  return `nodes pull over TLS, and its address for that is ${secureUrl}; set public_url to an https URL that nodes reach and trust`;
}

/**
 * Refuses an image that nodes would have to pull from a platform that they cannot reach: those of templates, and those of the
 * catalog without a registry. Throws REGISTRY_UNREACHABLE.
 */
export function assertPullable(
  { image, template }: { readonly image: string; readonly template: SandboxTemplate | null },
  driver: Pick<SandboxDriver, 'pullsImages'>,
  catalog: ImageCatalog,
  { secureUrl, servesAll }: ImageService,
): void {
  if (driver.pullsImages !== true) return;
  const entry = catalog.find(image);
  const isElsewhere = entry === null || (!servesAll && entry.sources.some(({ kind }) => kind === 'registry'));
  const reason = template === null && isElsewhere ? null : whyUnreachable(secureUrl());
  if (reason !== null) throw sandboxErrors.REGISTRY_UNREACHABLE({ details: { field: 'image', image, reason } });
}
