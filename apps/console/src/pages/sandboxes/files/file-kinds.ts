import { endingOf } from '../../../editor/name-ending.ts';

/** Image types that browsers display. SVG is shown as text, since it may contain scripts. */
const IMAGES: ReadonlyMap<string, string> = new Map([
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['gif', 'image/gif'],
  ['webp', 'image/webp'],
  ['avif', 'image/avif'],
  ['bmp', 'image/bmp'],
]);

export const MOST_TEXT_BYTES = 2 * 1024 * 1024;
export const MOST_IMAGE_BYTES = 32 * 1024 * 1024;

/** Returns an image's media type by file name; null for anything else. */
export function imageTypeOf(name: string): string | null {
  return IMAGES.get(endingOf(name)) ?? null;
}
