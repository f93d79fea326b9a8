import { readJson } from './answers.ts';
import type { Discovery } from './discovery.ts';
import { isStatusError } from './errors.ts';
import { isRecord } from './fields.ts';
import type { KindReference, KubeObject } from './objects.ts';
import { resourcePath } from './paths.ts';
import type { Transport } from './transport.ts';

/** Options of a list. */
export interface ListOptions {
  /** Defaults to all namespaces. */
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  pageSize?: number;
  /** Requests only metadata, at a tenth of the memory. */
  metadataOnly?: boolean;
  signal?: AbortSignal | undefined;
}

/** One page of a list. */
export interface ListPage {
  items: KubeObject[];
  /** Version of the whole list, identical on every page; a watch starts from it. */
  resourceVersion: string;
}

const METADATA_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

/**
 * Lists page by page, so that only one is in memory. If a continue token expires between two pages (410), continues
 * with the server's replacement token, if any, which may repeat or miss objects changed meanwhile; the subsequent watch
 * corrects that.
 */
export async function* listObjects(
  transport: Transport,
  discovery: Discovery,
  reference: KindReference,
  options: ListOptions = {},
): AsyncGenerator<ListPage> {
  const kind = await discovery.find(reference, options.signal);
  let token: string | undefined;
  do {
    const page = await readPage(transport, resourcePath(kind, options.namespace), options, token);
    const items = page.items.map((item) => ({ ...item, apiVersion: kind.apiVersion, kind: kind.kind }) as KubeObject);
    yield { items, resourceVersion: page.resourceVersion };
    token = page.next;
  } while (token !== undefined);
}

interface RawPage {
  items: Record<string, unknown>[];
  resourceVersion: string;
  next: string | undefined;
}

async function readPage(
  transport: Transport,
  path: string,
  options: ListOptions,
  token: string | undefined,
): Promise<RawPage> {
  const { labelSelector, fieldSelector, pageSize = 500, metadataOnly, signal } = options;
  const send = async (continueToken: string | undefined): Promise<Record<string, unknown>> =>
    readJson(
      await transport.send({
        method: 'GET',
        path,
        query: { limit: pageSize, continue: continueToken, labelSelector, fieldSelector },
        headers: metadataOnly === true ? { accept: METADATA_LIST } : {},
        signal,
      }),
    );
  let answer: Record<string, unknown>;
  try {
    answer = await send(token);
  } catch (error) {
    if (token === undefined || !isStatusError(error, 410) || error.continueToken === null) throw error;
    answer = await send(error.continueToken);
  }
  const metadata = isRecord(answer['metadata']) ? answer['metadata'] : {};
  const next = metadata['continue'];
  const version = metadata['resourceVersion'];
  return {
    items: Array.isArray(answer['items']) ? answer['items'].filter(isRecord) : [],
    resourceVersion: typeof version === 'string' ? version : '',
    next: typeof next === 'string' && next !== '' ? next : undefined,
  };
}
