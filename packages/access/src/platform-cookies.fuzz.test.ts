import { describeFuzz } from '@svc/testing';
import { expect } from 'vitest';
import {
  confineSetCookie,
  cookieValues,
  foreignCookies,
  isPlatformCookie,
  PLATFORM_COOKIES,
} from './platform-cookies.ts';

const COOKIES = Object.values(PLATFORM_COOKIES);
const trim = (text: string): string => text.replaceAll(/^[ \t]+|[ \t]+$/g, '');

interface BrowserCookie {
  readonly name: string;
  readonly value: string;
  readonly domain: string | null;
}

/** What a browser makes of `Set-Cookie` (RFC 6265bis, section 5.6); null if it ignores it. */
function storedCookie(header: string): BrowserCookie | null {
  // eslint-disable-next-line no-control-regex -- the characters of the standard
  if (/[\0-\x08\x0a-\x1f\x7f]/.test(header)) return null;
  const [pair = '', ...attributes] = header.split(';');
  const equals = pair.indexOf('=');
  const name = equals === -1 ? '' : trim(pair.slice(0, equals));
  const value = trim(equals === -1 ? pair : pair.slice(equals + 1));
  if (name === '' && value === '') return null;
  let domain: string | null = null;
  for (const attribute of attributes) {
    const at = attribute.indexOf('=');
    const key = trim(at === -1 ? attribute : attribute.slice(0, at)).toLowerCase();
    if (key === 'domain' && at !== -1) domain = trim(attribute.slice(at + 1));
  }
  return { name, value, domain };
}

/** The cookie as the browser sends it (section 5.8.3). */
const sentCookie = ({ name, value }: BrowserCookie): string => (name === '' ? value : `${name}=${value}`);

describeFuzz({
  name: 'cookies that programs behind the platform set',
  corpus: new URL('./corpus/set-cookie/', import.meta.url),
  seeds: [
    'a=b; Path=/; Domain=example.com; Secure',
    'svc_session=x',
    '__Host-svc_tunnel=x; Path=/; Secure',
    '=svc_session=x',
    ' = svc_preview=x',
    'svc_session',
    'a; domain ; DOMAIN=b;\tdomain\t=c',
    'a=b; Domain=',
  ],
  dictionary: [
    '=',
    ';',
    ' ',
    '\t',
    'svc_session=',
    '__Host-',
    '__Secure-',
    'svc-',
    'Domain=',
    'domain',
    '\u00a0',
    '"',
    ',',
    'K',
  ],
  run: (input) => {
    const given = input.toString('latin1');
    const confined = confineSetCookie(given);
    const before = storedCookie(given);
    if (confined === null || before === null) return;
    const after = storedCookie(confined);
    if (after === null) throw new Error('a cookie of another name is lost');
    // Another program of the same name still gets its cookie, for its own host only.
    expect(after).toEqual({ ...before, domain: null });
    const sent = sentCookie(after);
    for (const cookie of COOKIES) {
      for (const isSecure of [false, true]) expect(cookieValues(sent, cookie, isSecure), sent).toEqual([]);
    }
  },
});

describeFuzz({
  name: 'cookies of requests',
  corpus: new URL('./corpus/cookie/', import.meta.url),
  seeds: [
    'a=b; svc_session=s; __Host-svc_session=t; c',
    'svc_device="d";;; svc-other=x ;SVC_TUNNEL=y',
    '=svc_session=x; ==; a=b=c',
    'svc_session=1; '.repeat(20),
  ],
  dictionary: [
    ';',
    '; ',
    '=',
    'svc_session=',
    '__Host-svc_session=',
    '__Secure-svc_x=',
    '\t',
    '"',
    '\u00a0',
    ' svc_preview =',
  ],
  run: (input) => {
    const header = input.toString('latin1');
    const foreign = foreignCookies(header);
    const pairs = foreign?.split('; ') ?? [];
    // What is passed on has none of ours, and is passed on unchanged the second time.
    for (const pair of pairs) expect(isPlatformCookie(pair), pair).toBe(false);
    expect(foreignCookies(foreign ?? undefined)).toBe(foreign);
    for (const cookie of COOKIES) {
      expect(cookieValues(foreign ?? undefined, cookie, false)).toEqual([]);
      const secure = cookieValues(header, cookie, true);
      expect(secure.length).toBeLessThanOrEqual(8);
      for (const value of secure) expect(header).toContain(`__Host-${cookie.name}=${value}`);
      const plain = cookieValues(header, cookie, false);
      expect(plain.slice(0, secure.length)).toEqual(secure);
      for (const value of plain) expect(header).toContain(`${cookie.name}=${value}`);
    }
  },
});
