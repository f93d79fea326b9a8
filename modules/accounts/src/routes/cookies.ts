import { cookieValues, PLATFORM_COOKIES, serializeCookie, type PlatformCookie } from '@svc/access';
import type { FastifyReply, FastifyRequest } from 'fastify';

const DEVICE_LIFETIME_SECONDS = 180 * 86_400;
const { session, device } = PLATFORM_COOKIES;

export function setSessionCookie(reply: FastifyReply, request: FastifyRequest, secret: string, seconds: number): void {
  setCookie(reply, request, session, secret, seconds);
}

export function setDeviceCookie(reply: FastifyReply, request: FastifyRequest, secret: string): void {
  setCookie(reply, request, device, secret, DEVICE_LIFETIME_SECONDS);
}

/** Keeps the device cookie: the user has still signed in from this browser. */
export function clearSessionCookie(reply: FastifyReply, request: FastifyRequest): void {
  setCookie(reply, request, session, '', 0);
}

/** The first value that the browser sent. */
export function readCookie({ headers, protocol }: FastifyRequest, cookie: PlatformCookie): string | undefined {
  return cookieValues(headers.cookie, cookie, protocol === 'https')[0];
}

function setCookie(
  reply: FastifyReply,
  request: FastifyRequest,
  cookie: PlatformCookie,
  value: string,
  maxAgeSeconds: number,
): void {
  reply.header('set-cookie', serializeCookie(cookie, value, { maxAgeSeconds, isSecure: request.protocol === 'https' }));
}
