import type { SandboxesConfig } from '../config.ts';
import { ImageCatalog, type ImageEntry } from './catalog.ts';

const BUILT_IN: readonly ImageEntry[] = [
  {
    name: 'debian',
    displayName: 'Debian',
    description: 'A minimal Debian with apt, of the suite that the host runs',
    category: 'os',
    tags: ['apt', 'glibc', 'bash'],
    popular: true,
    aliases: [],
    sources: [{ kind: 'debootstrap', suite: 'host', packages: [] }],
  },
  {
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

/** The built-in images with those of the configuration, which take the place of built-in ones of the same name. */
export function catalogOf(config: Pick<SandboxesConfig, 'images' | 'default_image'>): ImageCatalog {
  const configured = config.images.map(toEntry);
  const names = new Set(configured.flatMap((entry) => [entry.name, ...entry.aliases]));
  const kept = BUILT_IN.filter((entry) => !names.has(entry.name));
  return new ImageCatalog([...kept, ...configured], config.default_image);
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
