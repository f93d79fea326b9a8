import { endingOf } from '../../../editor/name-ending.ts';

/** What pictures browsers draw; SVG is text here, since it is a document that may hold a program. */
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

/** The media type of a picture by its name; null for everything else. */
export function imageTypeOf(name: string): string | null {
  return IMAGES.get(endingOf(name)) ?? null;
}
