import { OPAQUE_TYPE, parseMediaType, readParameters, type MediaType } from './media-type.ts';

/** Types that browsers can display without running code, under the policy below. All other types are downloaded. */
type Display = 'image' | 'text' | 'document' | 'media';

const INLINE_TYPES: ReadonlyMap<string, Display> = new Map([
  ...of('image', ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif']),
  ...of('text', ['text/plain']),
  ...of('document', ['application/pdf']),
  ...of('media', [
    'audio/aac',
    'audio/flac',
    'audio/mp4',
    'audio/mpeg',
    'audio/ogg',
    'audio/opus',
    'audio/wav',
    'audio/webm',
    'audio/x-flac',
    'audio/x-m4a',
    'audio/x-wav',
    'video/mp4',
    'video/mpeg',
    'video/ogg',
    'video/quicktime',
    'video/webm',
    'video/x-m4v',
    'video/x-matroska',
  ]),
]);

/** An object's document gets an opaque origin, and can neither run nor load anything. */
export const SANDBOX = "sandbox; default-src 'none'";

/**
 * A browser's viewer is a page with its own styles. The media viewer loads the URL again from its own origin; from an
 * opaque origin that would be cross-origin, without the cookie. Without `allow-scripts` the origin cannot be abused.
 */
const POLICIES: Readonly<Record<Display, string>> = {
  image: `${SANDBOX}; img-src 'self'; style-src 'unsafe-inline'`,
  text: SANDBOX,
  document: SANDBOX,
  media: "sandbox allow-same-origin; default-src 'none'; media-src 'self'; style-src 'unsafe-inline'",
};

/**
 * Who reads the bytes, and in which origin:
 * - `site`: a website host or a custom domain, which is the bucket's own origin; its pages are shown unchanged;
 * - `client`: an S3 client that signs with the `Authorization` header, which a page load cannot send; it reads back
 * what was stored;
 * - `browser`: anything else that may be a browser, on an origin of the platform;
 * - `console`: a browser in the console's origin. It also gets no type that a page of the console could run.
 */
export type ContentReader = 'site' | 'client' | 'browser' | 'console';

export interface ContentView {
  readonly reader: ContentReader;
  /** Determines the name of the downloaded file. */
  readonly key: string;
  /** The preferred disposition. Types that are not displayed are always attachments. */
  readonly disposition: 'inline' | 'attachment';
  /** Which pages may embed the bytes. */
  readonly embedders: 'same-origin' | 'cross-origin';
}

/** Headers to set on a response with an object's bytes, in lower case. */
export type ContentHeaders = Readonly<Record<string, string>>;

/**
 * The single decision on how browsers may interpret an object's bytes. `contentType` and `contentDisposition` come from
 * the object or the request.
 */
export function contentHeaders(
  stored: { contentType: string; contentDisposition: string | null },
  view: ContentView,
): ContentHeaders {
  const type = parseMediaType(stored.contentType);
  const valid = type === null ? OPAQUE_TYPE : stored.contentType;
  const { contentDisposition } = stored;
  if (view.reader === 'site') {
    return {
      'content-type': valid,
      ...(contentDisposition === null ? {} : { 'content-disposition': contentDisposition }),
    };
  }
  const isolated = {
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': view.embedders,
  };
  if (view.reader === 'client') {
    return {
      ...isolated,
      'content-security-policy': SANDBOX,
      'content-type': valid,
      ...(contentDisposition === null ? {} : { 'content-disposition': contentDisposition }),
    };
  }
  const display = displayOf(type);
  const wanted = contentDisposition === null ? null : parseDisposition(contentDisposition);
  const inline = display !== null && (wanted?.kind ?? view.disposition) === 'inline';
  return {
    ...isolated,
    'content-security-policy': inline ? POLICIES[display] : SANDBOX,
    'content-type': typeFor(valid, type, { display, inline, reader: view.reader }),
    'content-disposition': `${inline ? 'inline' : 'attachment'}${wanted?.parameters ?? fileNameParameters(view.key)}`,
  };
}

function displayOf(type: MediaType | null): Display | null {
  return type === null ? null : (INLINE_TYPES.get(type.essence) ?? null);
}

function typeFor(
  valid: string,
  type: MediaType | null,
  { display, inline, reader }: { display: Display | null; inline: boolean; reader: ContentReader },
): string {
  if (inline && display === 'text') return 'text/plain; charset=utf-8';
  // A body part would bring its own type, bypassing this decision.
  if (type === null || /^(multipart|message)\//.test(type.essence)) return OPAQUE_TYPE;
  // With nosniff, scripts, styles and workers need a matching type; without one, a console page cannot load the object
  // as such.
  if (reader === 'console' && display === null && !type.essence.startsWith('image/')) return OPAQUE_TYPE;
  return valid;
}

const DISPOSITION = /^(inline|attachment)(?=[ \t;]|$)/i;

/** RFC 6266. Null for text that browsers would interpret differently or not at all. */
function parseDisposition(text: string): { kind: string; parameters: string } | null {
  const kind = DISPOSITION.exec(text)?.[0];
  if (kind === undefined || readParameters(text, kind.length) === null) return null;
  return { kind: kind.toLowerCase(), parameters: text.slice(kind.length) };
}

/** RFC 6266: a plain name for old clients, an encoded name for the rest. */
function fileNameParameters(key: string): string {
  const name = key.split('/').findLast((segment) => segment !== '') ?? 'download';
  const ascii = name.replace(/[^ -~]|["\\%]/g, '_');
  const encoded = encodeURIComponent(name).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16)}`,
  );
  return `; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}

function of(display: Display, types: readonly string[]): (readonly [string, Display])[] {
  return types.map((type) => [type, display] as const);
}
