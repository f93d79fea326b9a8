import type { DescService } from '@bufbuild/protobuf';

const WATCH_FIELDS = {
  path: [1, 'string'],
  recursive: [2, 'bool'],
  include_entry: [3, 'bool'],
  allow_network_mounts: [4, 'bool'],
} as const;

/** Messages of the service `filesystem.Filesystem`, with the names and numbers that E2B clients use. */
export async function describeFilesystem(): Promise<DescService> {
  const { describeService } = await import('./message-file.ts');
  const { file_google_protobuf_timestamp } = await import('@bufbuild/protobuf/wkt');
  return describeService({
    package: 'filesystem',
    imports: { 'google/protobuf/timestamp.proto': file_google_protobuf_timestamp },
    enums: {
      FileType: { FILE_TYPE_UNSPECIFIED: 0, FILE_TYPE_FILE: 1, FILE_TYPE_DIRECTORY: 2, FILE_TYPE_SYMLINK: 3 },
      EventType: {
        EVENT_TYPE_UNSPECIFIED: 0,
        EVENT_TYPE_CREATE: 1,
        EVENT_TYPE_WRITE: 2,
        EVENT_TYPE_REMOVE: 3,
        EVENT_TYPE_RENAME: 4,
        EVENT_TYPE_CHMOD: 5,
      },
    },
    messages: {
      Empty: {},
      PathRequest: { path: [1, 'string'] },
      MoveRequest: { source: [1, 'string'], destination: [2, 'string'] },
      ListRequest: { path: [1, 'string'], depth: [2, 'uint32'] },
      Entry: {
        name: [1, 'string'],
        type: [2, 'FileType'],
        path: [3, 'string'],
        size: [4, 'int64'],
        mode: [5, 'uint32'],
        permissions: [6, 'string'],
        owner: [7, 'string'],
        group: [8, 'string'],
        modified_time: [9, '.google.protobuf.Timestamp'],
        symlink_target: [10, 'string', 'optional'],
        metadata: [11, 'string', 'map'],
      },
      EntryResponse: { entry: [1, 'Entry'] },
      ListResponse: { entries: [1, 'Entry', 'repeated'] },
      WatchRequest: WATCH_FIELDS,
      Change: { name: [1, 'string'], type: [2, 'EventType'], entry: [3, 'Entry', 'optional'] },
      WatchResponse: { event: { oneof: { start: [1, 'Empty'], filesystem: [2, 'Change'], keepalive: [3, 'Empty'] } } },
      Watcher: { watcher_id: [1, 'string'] },
      Changes: { events: [1, 'Change', 'repeated'] },
    },
    service: 'Filesystem',
    methods: {
      Stat: { input: 'PathRequest', output: 'EntryResponse' },
      MakeDir: { input: 'PathRequest', output: 'EntryResponse' },
      Move: { input: 'MoveRequest', output: 'EntryResponse' },
      ListDir: { input: 'ListRequest', output: 'ListResponse' },
      Remove: { input: 'PathRequest', output: 'Empty' },
      WatchDir: { input: 'WatchRequest', output: 'WatchResponse', streams: 'output' },
      CreateWatcher: { input: 'WatchRequest', output: 'Watcher' },
      GetWatcherEvents: { input: 'Watcher', output: 'Changes' },
      RemoveWatcher: { input: 'Watcher', output: 'Empty' },
    },
  });
}

export const FILE_TYPE = { unspecified: 0, file: 1, directory: 2, symlink: 3 } as const;
export const EVENT_TYPE = { create: 1, write: 2, remove: 3, rename: 4, chmod: 5 } as const;

export interface PathMessage {
  readonly path: string;
}

export interface MoveMessage {
  readonly source: string;
  readonly destination: string;
}

export interface ListMessage extends PathMessage {
  readonly depth: number;
}

export interface WatchMessage extends PathMessage {
  readonly recursive: boolean;
  readonly includeEntry: boolean;
}

export interface WatcherMessage {
  readonly watcherId: string;
}

export interface EntryMessage {
  readonly name: string;
  readonly type: number;
  readonly path: string;
  readonly size: bigint;
  readonly mode: number;
  readonly permissions: string;
  readonly owner: string;
  readonly group: string;
  readonly modifiedTime: { readonly seconds: bigint; readonly nanos: number };
  readonly symlinkTarget?: string;
  readonly metadata: Readonly<Record<string, string>>;
}

export interface ChangeMessage {
  readonly name: string;
  readonly type: number;
  readonly entry?: EntryMessage;
}
