export type PreviewKind = 'image' | 'video' | 'audio' | 'text' | 'none';

/** Image types that browsers display. Excludes SVG, which may contain scripts. */
const IMAGES: ReadonlySet<string> = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'image/avif',
  'image/bmp',
]);
const TEXTS: ReadonlySet<string> = new Set([
  'application/json',
  'application/xml',
  'application/yaml',
  'application/x-yaml',
  'application/javascript',
  'application/toml',
  'application/x-sh',
  'image/svg+xml',
]);
const TEXT_ENDINGS =
  /\.(txt|md|json|ya?ml|toml|xml|csv|tsv|log|js|ts|tsx|css|html?|svg|sh|py|go|rs|sql|ini|conf|env)$/i;
/** Text is loaded whole; images and videos are streamed by the browser. */
export const TEXT_PREVIEW_BYTES = 256 * 1024;
export const IMAGE_PREVIEW_BYTES = 32 * 1024 * 1024;

/** How to show an object without downloading it. */
export function previewKindOf(key: string, contentType: string): PreviewKind {
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (IMAGES.has(type)) return 'image';
  if (type.startsWith('video/')) return 'video';
  if (type.startsWith('audio/')) return 'audio';
  if (type.startsWith('text/') || TEXTS.has(type)) return 'text';
  const unknown = type === '' || type === 'application/octet-stream' || type === 'binary/octet-stream';
  return unknown && TEXT_ENDINGS.test(key) ? 'text' : 'none';
}
