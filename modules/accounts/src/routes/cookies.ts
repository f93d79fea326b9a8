import type { FastifyReply, FastifyRequest } from 'fastify';
import { COOKIE_NAMES, type CookiePurpose } from './credentials/cookie-names.ts';

const DEVICE_LIFETIME_SECONDS = 180 * 86_400;

/**
 * `HttpOnly`: no script reads it. `SameSite=Strict`: no other site's page can use it, not even by a link; the console
 * loses nothing by that, since its pages are static and ask for their data themselves. `Secure` with TLS.
 */
export function setSessionCookie(reply: FastifyReply, request: FastifyRequest, secret: string, seconds: number): void {
  setCookie(reply, request, 'session', secret, seconds);
}

export function setDeviceCookie(reply: FastifyReply, request: FastifyRequest, secret: string): void {
  setCookie(reply, request, 'device', secret, DEVICE_LIFETIME_SECONDS);
}

/** The device cookie stays: the browser is still one that this user signs in from. */
export function clearSessionCookie(reply: FastifyReply, request: FastifyRequest): void {
  setCookie(reply, request, 'session', '', 0);
}

function setCookie(
  reply: FastifyReply,
  request: FastifyRequest,
  purpose: CookiePurpose,
  value: string,
  maxAgeSeconds: number,
): void {
  const secure = request.protocol === 'https';
  const { secure: secureName, plain } = COOKIE_NAMES[purpose];
  reply.setCookie(secure ? secureName : plain, value, {
    path: '/',
    httpOnly: true,
    sameSite: 'strict',
    secure,
    maxAge: maxAgeSeconds,
  });
}
