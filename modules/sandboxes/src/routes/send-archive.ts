import type { FastifyReply } from 'fastify';
import { sandboxErrors } from '../errors.ts';
import type { SandboxFiles } from '../domain/files/file-service.ts';
import { TransferBody } from '../domain/files/transfer-body.ts';

/** Sends a folder as a tar stream. Its length is unknown in advance; a failure cuts the connection. */
export async function sendArchive(
  of: SandboxFiles,
  path: string,
  reply: FastifyReply,
  bodyless: boolean,
): Promise<FastifyReply> {
  const name = path.split('/').findLast((part) => part !== '' && part !== '.' && part !== '..') ?? 'root';
  const headers = {
    'content-type': 'application/x-tar',
    'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(name).replaceAll("'", '%27')}.tar`,
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  };
  if (bodyless) {
    if (!(await of.isDirectory(path))) throw sandboxErrors.NOT_A_DIRECTORY({ details: { path } });
    return reply.headers(headers).send();
  }
  return reply.headers(headers).send(new TransferBody(await of.archive(path)));
}
