import type { FileEntry } from '@svc/sdk';
import { FilePlus, FolderDown, FolderPlus, Upload } from 'lucide-react';
import { useRef, useState } from 'react';
import { fileDownloadPath } from '../../../api/file-requests.ts';
import type { FileOwner } from '../../../api/sandbox-types.ts';
import { mayWrite } from '../../../session/administers.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Button, buttonClass } from '../../../ui/button.tsx';
import { DropArea } from '../../../uploads/drop-area.tsx';
import type { DroppedFile } from '../../../uploads/dropped-files.ts';
import { useUploads } from '../../../uploads/uploads-context.ts';
import { FileView } from './file-view.tsx';
import { joinPath } from './file-paths.ts';
import type { FilesSearch } from './files-search.ts';
import styles from './files.module.css';
import { FolderView } from './folder-view.tsx';
import { PathDialog, type PathQuestion } from './path-dialog.tsx';

const NEW_FOLDER: PathQuestion = {
  title: 'New folder',
  description: 'Use slashes to create nested folders.',
  action: 'Create folder',
  label: 'Name',
  value: '',
  act: (files, path) => files.mkdir(path),
};

const NEW_FILE: PathQuestion = {
  title: 'New file',
  description: 'Creates an empty file and opens it in the editor.',
  action: 'Create file',
  label: 'Name',
  value: '',
  act: async (files, path) => {
    // Appending nothing creates a missing file and leaves an existing one unchanged.
    await files.write(path, '', { append: true });
  },
};

/** Renames atomically. Never replaces an existing file. */
function renameQuestion({ name, path: from }: FileEntry): PathQuestion {
  return {
    title: `Rename ${name}`,
    description: 'Enter a path to move it: absolute, or relative to this folder.',
    action: 'Rename',
    label: 'New name or path',
    value: name,
    act: (files, path) => files.move(from, path),
  };
}

export interface FileBrowserProps {
  owner: FileOwner;
  /** The current folder or open file, from the page’s URL. */
  search: FilesSearch;
  /** Changes the page’s URL. */
  onGo: (search: FilesSearch, options?: { replace: boolean }) => void;
}

/** The files of a sandbox or volume. */
export function FileBrowser({ owner, search: { path: folder = '/', file }, onGo }: FileBrowserProps) {
  if (file === undefined) return <FolderPart key={folder} owner={owner} folder={folder} onGo={onGo} />;
  return (
    <FileView
      key={file}
      owner={owner}
      path={file}
      onClose={() => onGo({ path: folder })}
      onFolder={() => onGo({ path: file }, { replace: true })}
    />
  );
}

interface FolderPartProps extends Pick<FileBrowserProps, 'owner' | 'onGo'> {
  folder: string;
}

function FolderPart({ owner, folder, onGo }: FolderPartProps) {
  const workspace = useWorkspace();
  const uploads = useUploads();
  const picker = useRef<HTMLInputElement>(null);
  const [question, setQuestion] = useState<PathQuestion | null>(null);
  const writable = mayWrite(workspace);
  const upload = (files: readonly DroppedFile[]): void =>
    uploads.add(files.map(({ file, path }) => ({ workspace, owner, key: joinPath(folder, path), file })));
  return (
    <DropArea disabled={!writable} folder={folder} onDrop={upload}>
      <div className={styles['tools']}>
        <FolderDownload owner={owner} folder={folder} />
        {writable && (
          <WriteButtons
            onFile={() => setQuestion(NEW_FILE)}
            onFolder={() => setQuestion(NEW_FOLDER)}
            onUpload={() => picker.current?.click()}
          />
        )}
      </div>
      <input
        ref={picker}
        type="file"
        multiple
        hidden
        aria-label="Files to upload"
        onChange={(event) => {
          upload([...(event.currentTarget.files ?? [])].map((file) => ({ file, path: file.name })));
          event.currentTarget.value = '';
        }}
      />
      <FolderView
        owner={owner}
        folder={folder}
        writable={writable}
        onRename={(entry) => setQuestion(renameQuestion(entry))}
      />
      <PathDialog
        question={question}
        owner={owner}
        folder={folder}
        onClose={() => setQuestion(null)}
        onDone={(path) => {
          if (question === NEW_FILE) onGo({ path: folder, file: path });
        }}
      />
    </DropArea>
  );
}

function FolderDownload({ owner, folder }: Pick<FolderPartProps, 'owner' | 'folder'>) {
  const workspace = useWorkspace();
  // The root of a sandbox has everything of its image, too.
  if (owner.kind === 'sandbox' && folder === '/') return null;
  return (
    <a
      className={buttonClass({ size: 'small' })}
      href={fileDownloadPath(workspace, owner, folder, { archive: true })}
      download
      aria-label="Download folder"
      title="Download folder as tar"
    >
      <FolderDown size={14} />
      <span className={styles['wideText']}>Download folder</span>
    </a>
  );
}

interface WriteButtonsProps {
  onFile: () => void;
  onFolder: () => void;
  onUpload: () => void;
}

function WriteButtons({ onFile, onFolder, onUpload }: WriteButtonsProps) {
  return (
    <>
      <Button size="small" icon={<FilePlus size={14} />} onClick={onFile}>
        New file
      </Button>
      <Button size="small" icon={<FolderPlus size={14} />} onClick={onFolder}>
        New folder
      </Button>
      <Button size="small" variant="primary" icon={<Upload size={14} />} onClick={onUpload}>
        Upload
      </Button>
    </>
  );
}
