import type { AppError } from '@svc/errors';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { fromFrameworkError } from './framework-errors.ts';
import type { HttpApp } from './http-app.ts';
import type { ErrorRenderer } from './renderers.ts';

/** Adapts an error to a route family: another status, a header, a detail of the request. */
export type ErrorAdapter = (error: AppError, request: FastifyRequest) => AppError;

/** Sets how this app, or an encapsulated part of it, renders errors. */
export function useErrorRenderer(app: HttpApp, render: ErrorRenderer, adapt?: ErrorAdapter): void {
  app.setErrorHandler((raw, request, reply) => answerError(raw, request, reply, render, adapt));
}

/** Logs and answers the error of a request. No other code does either. */
export function answerError(
  raw: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  render: ErrorRenderer,
  adapt: ErrorAdapter = (error) => error,
): void {
  const thrown = fromFrameworkError(raw, {
    bodyLimitBytes: request.routeOptions.bodyLimit,
    contentType: request.headers['content-type'],
  });
  const error = adapt(thrown, request);
  logOnce(error, request);
  if (reply.raw.headersSent) {
    reply.raw.destroy();
    return;
  }
  if (hasUnreadBody(request)) reply.header('connection', 'close');
  void reply.status(error.status).headers(error.headers).send(render(error, request.id));
}

function logOnce(error: AppError, request: FastifyRequest): void {
  if (error.status < 500) return;
  if (request.raw.destroyed && !request.raw.complete) {
    request.log.debug({ err: error.cause ?? error }, 'the client disconnected before its request was complete');
  } else if (error.code === 'internal_error') {
    request.log.error({ err: error.cause ?? error, code: error.code }, 'request failed');
  } else {
    // An expected failure: an engine or agent is unavailable.
    request.log.warn({ err: error, code: error.code }, 'request refused');
  }
}

/**
 * Close the connection instead of draining a refused upload: before the connection can be reused, the server would have
 * to read and discard everything the client sends.
 */
function hasUnreadBody({ raw }: FastifyRequest): boolean {
  if (raw.complete) return false;
  const lengthBytes = Number(raw.headers['content-length'] ?? 0);
  return raw.headers['transfer-encoding'] !== undefined || lengthBytes > WORTH_READING_BYTES;
}

/** A remainder of this size has usually arrived already. */
const WORTH_READING_BYTES = 64 * 1024;
