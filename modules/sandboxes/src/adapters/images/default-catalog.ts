import type { SandboxesConfig } from '../../config.ts';
import { ImageCatalog, type ImageEntry, type ImageSourceSpec } from '../../domain/images/catalog.ts';

interface BuiltInImage extends ImageEntry {
  /** Repository and tag on Docker Hub and its mirrors; null if it is only made of packages. */
  readonly hub: string | null;
  /** Try local sources before the registry. */
  readonly localFirst?: boolean;
}

const BUILT_IN: readonly BuiltInImage[] = [
  {
    hub: 'debian:stable',
    name: 'debian',
    displayName: 'Debian',
    description: 'Debian stable with apt; without a registry, a minimal one of the host’s suite',
    category: 'os',
    tags: ['apt', 'glibc', 'bash'],
    popular: true,
    aliases: [],
    sources: [{ kind: 'debootstrap', suite: 'host', packages: [] }],
  },
  {
    hub: 'ubuntu:24.04',
    name: 'ubuntu',
    displayName: 'Ubuntu 24.04 LTS',
    description: 'Ubuntu with apt',
    category: 'os',
    tags: ['apt', 'glibc', 'bash'],
    popular: true,
    aliases: ['ubuntu-24'],
    sources: [],
  },
  {
    hub: 'ubuntu:22.04',
    name: 'ubuntu-22',
    displayName: 'Ubuntu 22.04 LTS',
    description: 'The Ubuntu of before, with apt',
    category: 'os',
    tags: ['apt', 'glibc', 'bash'],
    popular: false,
    aliases: [],
    sources: [],
  },
  {
    hub: 'debian:12',
    name: 'debian-12',
    displayName: 'Debian 12 (bookworm)',
    description: 'Debian 12 with apt',
    category: 'os',
    tags: ['apt', 'glibc', 'bash'],
    popular: false,
    aliases: [],
    sources: [{ kind: 'debootstrap', suite: 'bookworm', packages: [] }],
  },
  {
    hub: 'alpine:3',
    name: 'alpine',
    displayName: 'Alpine Linux',
    description: 'A few megabytes with apk and musl',
    category: 'os',
    tags: ['apk', 'musl', 'small'],
    popular: true,
    aliases: [],
    sources: [],
  },
  {
    hub: 'fedora:latest',
    name: 'fedora',
    displayName: 'Fedora',
    description: 'Fedora with dnf',
    category: 'os',
    tags: ['dnf', 'glibc', 'bash'],
    popular: false,
    aliases: [],
    sources: [],
  },
  {
    hub: 'node:lts',
    name: 'node',
    displayName: 'Node.js LTS',
    description: 'Node.js with npm, on Debian',
    category: 'language',
    tags: ['javascript', 'npm', 'git'],
    popular: true,
    aliases: ['nodejs'],
    sources: [{ kind: 'debootstrap', suite: 'host', packages: ['nodejs', 'npm', 'git', 'ca-certificates'] }],
  },
  {
    hub: 'python:3',
    name: 'python',
    displayName: 'Python 3',
    description: 'Python with pip, on Debian',
    category: 'language',
    tags: ['pip', 'git'],
    popular: true,
    aliases: ['python-3'],
    sources: [
      {
        kind: 'debootstrap',
        suite: 'host',
        packages: ['python3', 'python3-pip', 'python3-venv', 'git', 'ca-certificates'],
      },
    ],
  },
  {
    hub: null,
    name: 'agents',
    displayName: 'Tools for agents',
    description: 'Python, Node.js, git, curl and build tools, on Debian; made of packages, which takes minutes once',
    category: 'language',
    tags: ['python', 'javascript', 'git', 'gcc'],
    popular: true,
    aliases: [],
    sources: [
      {
        kind: 'debootstrap',
        suite: 'host',
        packages: [
          'python3',
          'python3-pip',
          'python3-venv',
          'python-is-python3',
          'nodejs',
          'npm',
          'git',
          'curl',
          'build-essential',
          'ca-certificates',
        ],
      },
    ],
  },
  {
    hub: null,
    name: 'jupyter',
    displayName: 'Jupyter kernel',
    description: 'Python with a Jupyter kernel, on Debian; made of packages: the base of E2B’s code interpreter',
    category: 'language',
    tags: ['python', 'jupyter', 'pip'],
    popular: false,
    aliases: [],
    sources: [
      { kind: 'debootstrap', suite: 'host', packages: ['python3-ipykernel', 'python3-pip', 'ca-certificates'] },
    ],
  },
  {
    hub: 'golang:latest',
    name: 'go',
    displayName: 'Go',
    description: 'The Go toolchain, on Debian',
    category: 'language',
    tags: ['golang', 'git'],
    popular: false,
    aliases: ['golang'],
    sources: [{ kind: 'debootstrap', suite: 'host', packages: ['golang-go', 'git', 'ca-certificates'] }],
  },
  {
    hub: 'busybox:latest',
    localFirst: true,
    name: 'busybox',
    displayName: 'BusyBox',
    description: 'A few hundred small Unix programs in one file: the fastest to start',
    category: 'os',
    tags: ['small'],
    popular: true,
    aliases: [],
    sources: [{ kind: 'busybox' }],
  },
];

type CatalogConfig = Pick<SandboxesConfig, 'images' | 'default_image' | 'image_registry'>;

/**
 * Merges the built-in images with those of the configuration, which replace built-in ones of the same name. A built-in
 * image comes from the registry, with local sources as a fallback.
 */
export function createCatalog(config: CatalogConfig): ImageCatalog {
  const configured = config.images.map(toEntry);
  const names = new Set(configured.flatMap((entry) => [entry.name, ...entry.aliases]));
  const kept = BUILT_IN.filter((entry) => !names.has(entry.name)).map((entry) => ({
    ...entry,
    aliases: entry.aliases.filter((alias) => !names.has(alias)),
    sources: sourcesOf(entry, config.image_registry),
  }));
  const possible = kept.filter(({ sources }) => sources.length > 0);
  return new ImageCatalog([...possible, ...configured], config.default_image);
}

function sourcesOf({ hub, sources, localFirst }: BuiltInImage, registry: string): ImageSourceSpec[] {
  if (registry === '' || hub === null) return [...sources];
  const pulled: ImageSourceSpec = { kind: 'registry', reference: `${registry}/library/${hub}` };
  return localFirst === true ? [...sources, pulled] : [pulled, ...sources];
}

function toEntry(image: SandboxesConfig['images'][number]): ImageEntry {
  return {
    name: image.name,
    displayName: image.display_name ?? image.name,
    description: image.description ?? '',
    category: image.category ?? 'other',
    tags: image.tags ?? [],
    popular: image.popular ?? false,
    aliases: image.aliases ?? [],
    sources: image.sources.map((source) =>
      source.kind === 'debootstrap' ? { ...source, packages: source.packages ?? [] } : source,
    ),
  };
}
