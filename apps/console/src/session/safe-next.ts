/** A path of this console to go to after sign-in, or `/`: never another site, whatever a link says. */
export function safeNext(next: string | undefined): string {
  if (next === undefined || !/^\/(?![/\\])/.test(next)) return '/';
  const url = URL.parse(next, 'http://console.invalid');
  return url === null || url.host !== 'console.invalid' ? '/' : `${url.pathname}${url.search}${url.hash}`;
}
