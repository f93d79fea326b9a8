/** Returns a console path to open after sign-in, or `/`; never another site, whatever a link contains. */
export function safeNext(next: string | undefined): string {
  if (next === undefined || !/^\/(?![/\\])/.test(next)) return '/';
  const url = URL.parse(next, 'http://console.invalid');
  return url === null || url.host !== 'console.invalid' ? '/' : `${url.pathname}${url.search}${url.hash}`;
}
