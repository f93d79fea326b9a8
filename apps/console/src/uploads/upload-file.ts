import { ApiError, NetworkError, xhrSender, type Transport } from '@svc/sdk';
import { fileUploadRequest } from '../api/file-requests.ts';
import type { FileTarget, SendHooks } from './upload-queue.ts';

/**
 * Sends the whole file to a sandbox or volume in one request: an interrupted upload starts over and never leaves a
 * partial file.
 */
export async function uploadFile(
  transport: Transport,
  target: FileTarget,
  file: File,
  { signal, onProgress }: SendHooks,
): Promise<void> {
  const send = xhrSender(() => new XMLHttpRequest());
  const request = {
    method: 'POST',
    ...fileUploadRequest(transport, target, target.key),
    body: file,
    withCookies: true,
  } as const;
  const { status, headers, text } = await send({ ...request, signal, onProgress }).catch((error: unknown) => {
    if (!(error instanceof TypeError)) throw error;
    throw new NetworkError('The upload was interrupted', { cause: error });
  });
  if (status >= 200 && status < 300) return;
  throw new ApiError({
    status,
    ...parseRefusal(text),
    requestId: headers.get('x-request-id'),
    retryAfterSeconds: null,
  });
}

function parseRefusal(text: string): { code: string; message: string; details: Readonly<Record<string, unknown>> } {
  const body = parse(text);
  const field = (name: string): unknown => (typeof body === 'object' && body !== null ? Reflect.get(body, name) : null);
  const [code, message] = [field('code'), field('error')];
  return {
    code: typeof code === 'string' ? code : 'UPLOAD_REFUSED',
    message: typeof message === 'string' ? message : 'The platform rejected the file',
    details: {},
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null; // such as a proxy's page
  }
}
