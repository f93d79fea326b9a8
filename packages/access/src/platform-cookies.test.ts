import { describe, expect, it } from 'vitest';
import {
  confineSetCookie,
  cookieValues,
  foreignCookies,
  PLATFORM_COOKIES,
  serializeCookie,
} from './platform-cookies.ts';

describe.each(Object.values(PLATFORM_COOKIES))('the cookie $name', (cookie) => {
  const { name, sameSite } = cookie;

  it('over TLS is only the one that no other host can plant', () => {
    expect(cookieValues(`${name}=planted`, cookie, true)).toEqual([]);
    expect(cookieValues(`${name}=planted; __Host-${name}=ours`, cookie, true)).toEqual(['ours']);
    expect(cookieValues(`__Secure-${name}=planted`, cookie, true)).toEqual([]);
  });

  it('without TLS is the plain one', () => {
    expect(cookieValues(`a=1; ${name}=ours; ${name}=other; ${name}=`, cookie, false)).toEqual(['ours', 'other']);
    expect(cookieValues(`x${name}=1`, cookie, false)).toEqual([]);
    expect(cookieValues(undefined, cookie, false)).toEqual([]);
  });

  it('is set for one host and every path, and out of reach of scripts', () => {
    const given = (isSecure: boolean) => serializeCookie(cookie, 'v', { maxAgeSeconds: 60, isSecure });
    expect(given(false)).toBe(`${name}=v; Path=/; Max-Age=60; HttpOnly; SameSite=${sameSite}`);
    expect(given(true)).toBe(`__Host-${name}=v; Path=/; Max-Age=60; HttpOnly; SameSite=${sameSite}; Secure`);
  });

  it('is neither shown to programs behind the platform nor set by them', () => {
    const all = [name, `__Host-${name}`, `__Secure-${name}`, name.toUpperCase()];
    expect(foreignCookies([...all.map((each) => `${each}=1`), 'app=2'].join('; '))).toBe('app=2');
    for (const each of all) {
      for (const start of [' ', '=', ' = ']) expect(confineSetCookie(`${start}${each}=stolen; Path=/`)).toBeNull();
    }
  });
});

it('leaves nothing of a cookie header that is all ours, and no domain of a program’s cookie', () => {
  expect(foreignCookies('svc_session=1')).toBeNull();
  expect(foreignCookies(undefined)).toBeNull();
  expect(confineSetCookie('app=1; Domain=example.com; Path=/; domain; HttpOnly')).toBe('app=1; Path=/; HttpOnly');
});
