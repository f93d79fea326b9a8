import type { IncomingMessage } from 'node:http';

/** The query parameter for the token. */
export const TOKEN_NAME = 'svc_preview';
export const PATH_PREFIX = '/preview/';

export type PreviewPlace =
  /** A host of the preview domain; `named` is null if it does not name a sandbox port. */
  | {
      readonly kind: 'host';
      readonly named: { readonly sandboxId: string; readonly port: number } | null;
      readonly host: string;
      /** The token from the query, which is not passed on. */
      readonly queryToken: string | null;
      readonly target: string;
    }
  /** The token is part of the path, on the platform's own host. */
  | {
      readonly kind: 'path';
      readonly host: string;
      readonly token: string;
      readonly prefix: string;
      /** Null without the trailing slash that relative URLs need. */
      readonly target: string | null;
    };

const LABEL = /^([1-9]\d{0,4})-([a-z2-7]{26})$/;

/** Parses the preview address of a request; null if it is not for a preview. */
export function parsePlace(request: Pick<IncomingMessage, 'headers' | 'url'>, domain: string): PreviewPlace | null {
  const host = (request.headers.host ?? '').toLowerCase();
  const name = host.replace(/:\d+$/, '').replace(/\.$/, '');
  const url = request.url ?? '/';
  if (name === domain || name.endsWith(`.${domain}`)) return hostPlace(host, name, domain, url);
  if (!url.startsWith(PATH_PREFIX)) return null;
  const end = /[/?]/.exec(url.slice(PATH_PREFIX.length));
  const at = end === null ? url.length : PATH_PREFIX.length + end.index;
  const prefix = url.slice(0, at);
  const target = url[at] === '/' ? url.slice(at) : null;
  return { kind: 'path', host, token: prefix.slice(PATH_PREFIX.length), prefix, target };
}

function hostPlace(host: string, name: string, domain: string, url: string): PreviewPlace {
  const match = LABEL.exec(name.slice(0, -domain.length - 1));
  const port = Number(match?.[1] ?? 0);
  const named = match === null || port > 65_535 ? null : { sandboxId: `sbx_${match[2] ?? ''}`, port };
  const { target, token } = takeToken(url);
  return { kind: 'host', named, host, queryToken: token, target };
}

/** Removes the token from the URL; the rest stays unchanged. */
function takeToken(url: string): { target: string; token: string | null } {
  const mark = url.indexOf('?');
  if (mark === -1) return { target: url, token: null };
  const parts = url.slice(mark + 1).split('&');
  const token = parts.find((part) => part.startsWith(`${TOKEN_NAME}=`));
  if (token === undefined) return { target: url, token: null };
  const rest = parts.filter((part) => !part.startsWith(`${TOKEN_NAME}=`)).join('&');
  return { target: url.slice(0, mark) + (rest === '' ? '' : `?${rest}`), token: token.slice(TOKEN_NAME.length + 1) };
}
