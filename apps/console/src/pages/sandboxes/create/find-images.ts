import type { SandboxImage } from '@svc/sdk';

/** Returns images that contain every word, in a category or among the popular ones; a search covers all images. */
export function findImages(images: readonly SandboxImage[], category: string, text: string): SandboxImage[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length > 0) {
    return images.filter((image) => {
      const { name, display_name: displayName, description, tags, aliases } = image;
      const all = [name, displayName, description, ...tags, ...aliases].join(' ').toLowerCase();
      return words.every((word) => all.includes(word));
    });
  }
  if (category === 'popular') return images.filter(({ popular }) => popular);
  return category === 'all' ? [...images] : images.filter((image) => image.category === category);
}

const CATEGORIES: Readonly<Record<string, string>> = {
  popular: 'Popular',
  all: 'All',
  os: 'Operating systems',
  language: 'Languages',
  database: 'Databases',
  other: 'Other',
};

export function categoryLabel(category: string): string {
  return CATEGORIES[category] ?? `${category.charAt(0).toUpperCase()}${category.slice(1)}`;
}
