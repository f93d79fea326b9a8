import { describe, expect, it } from 'vitest';
import type { SandboxImage } from '@svc/sdk';
import { categoryLabel, findImages } from './find-images.ts';

const image = (name: string, category: string, popular: boolean, tags: string[] = []): SandboxImage => ({
  name,
  display_name: name,
  description: '',
  category,
  tags,
  popular,
  default: false,
  aliases: [],
  cached: true,
  drivers: ['local'],
  progress: null,
});
const IMAGES = [
  image('debian', 'os', true, ['apt']),
  image('fedora', 'os', false),
  image('go', 'language', false, ['golang']),
];
const names = (category: string, text = ''): string[] => findImages(IMAGES, category, text).map(({ name }) => name);

describe('the image catalog', () => {
  it('shows a category', () => {
    expect(names('popular')).toEqual(['debian']);
    expect(names('os')).toEqual(['debian', 'fedora']);
    expect(names('all')).toHaveLength(3);
  });

  it('searches all images, including their tags', () => {
    expect(names('popular', 'golang')).toEqual(['go']);
    expect(names('os', 'apt debian')).toEqual(['debian']);
  });

  it('labels an unknown category', () => {
    expect(categoryLabel('science')).toBe('Science');
  });
});
