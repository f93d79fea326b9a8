export interface DroppedFile {
  file: File;
  /** Relative to the target folder, such as `photos/1.jpg`. */
  path: string;
}

/** Dropping more files at once is a mistake, or needs a tool that reads the disk itself. */
export const MAX_DROPPED_FILES = 10_000;

/** Returns the dropped files, including those in dropped folders. */
export async function droppedFiles(transfer: DataTransfer): Promise<DroppedFile[]> {
  // The list is cleared when the event ends, so read it before the first await.
  const taken = [...transfer.items].map((item) => ({ entry: item.webkitGetAsEntry(), file: item.getAsFile() }));
  const found: DroppedFile[] = [];
  for (const { entry, file } of taken) {
    if (entry !== null) await collect(entry, '', found);
    else if (file !== null) found.push({ file, path: file.name });
  }
  return found;
}

async function collect(entry: FileSystemEntry, folder: string, found: DroppedFile[]): Promise<void> {
  if (found.length >= MAX_DROPPED_FILES) return;
  const path = `${folder}${entry.name}`;
  if (isFile(entry)) {
    found.push({ file: await new Promise<File>((resolve, reject) => entry.file(resolve, reject)), path });
    return;
  }
  if (!isDirectory(entry)) return;
  const reader = entry.createReader();
  // A reader returns entries in batches; an empty one marks the end.
  for (;;) {
    const portion = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (portion.length === 0 || found.length >= MAX_DROPPED_FILES) return;
    for (const child of portion) await collect(child, `${path}/`, found);
  }
}

function isFile(entry: FileSystemEntry): entry is FileSystemFileEntry {
  return entry.isFile;
}

function isDirectory(entry: FileSystemEntry): entry is FileSystemDirectoryEntry {
  return entry.isDirectory;
}
