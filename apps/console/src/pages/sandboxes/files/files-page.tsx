import { getRouteApi } from '@tanstack/react-router';
import { FilePlus, FolderPlus, Upload } from 'lucide-react';
import { useRef, useState } from 'react';
import type { Sandbox } from '../../../api/sandbox-types.ts';
import { useSandbox } from '../../../layouts/sandbox-layout.tsx';
import { mayWrite } from '../../../session/administers.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Button } from '../../../ui/button.tsx';
import { DropArea } from '../../../uploads/drop-area.tsx';
import type { DroppedFile } from '../../../uploads/dropped-files.ts';
import { useUploads } from '../../../uploads/uploads-context.ts';
import { NotRunning } from '../detail/not-running.tsx';
import { isAwake } from '../detail/sandbox-labels.ts';
import { FileView } from './file-view.tsx';
import { joinPath } from './file-paths.ts';
import type { FilesSearch } from './files-search.ts';
import styles from './files.module.css';
import { FolderView } from './folder-view.tsx';
import { PathDialog, type PathQuestion } from './path-dialog.tsx';
import type { FileEntry } from '@svc/sdk';

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

/** Renames within the sandbox atomically. Never replaces an existing file. */
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

const route = getRouteApi('/shell/w/$workspace/sandboxes/$sandbox/files');

export function FilesPage() {
  const sandbox = useSandbox();
  return isAwake(sandbox) ? <Files sandbox={sandbox} /> : <NotRunning sandbox={sandbox} what="the file browser" />;
}

function Files({ sandbox }: { sandbox: Sandbox }) {
  const navigate = route.useNavigate();
  const { path: folder = '/', file } = route.useSearch();
  const go = (search: FilesSearch): void => void navigate({ search, resetScroll: false });
  if (file === undefined) return <FolderPart key={folder} sandbox={sandbox} folder={folder} onGo={go} />;
  return (
    <FileView
      key={file}
      sandbox={sandbox.id}
      path={file}
      onClose={() => go({ path: folder })}
      onFolder={() => void navigate({ search: { path: file }, replace: true })}
    />
  );
}

interface FolderPartProps {
  sandbox: Sandbox;
  folder: string;
  onGo: (search: FilesSearch) => void;
}

function FolderPart({ sandbox, folder, onGo }: FolderPartProps) {
  const workspace = useWorkspace();
  const uploads = useUploads();
  const picker = useRef<HTMLInputElement>(null);
  const [question, setQuestion] = useState<PathQuestion | null>(null);
  const writable = mayWrite(workspace);
  const upload = (files: readonly DroppedFile[]): void =>
    uploads.add(files.map(({ file, path }) => ({ workspace, sandbox: sandbox.id, key: joinPath(folder, path), file })));
  return (
    <DropArea disabled={!writable} folder={folder} onDrop={upload}>
      {writable && (
        <Toolbar
          onFile={() => setQuestion(NEW_FILE)}
          onFolder={() => setQuestion(NEW_FOLDER)}
          onUpload={() => picker.current?.click()}
        />
      )}
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
        sandbox={sandbox.id}
        folder={folder}
        writable={writable}
        onRename={(entry) => setQuestion(renameQuestion(entry))}
      />
      <PathDialog
        question={question}
        sandbox={sandbox.id}
        folder={folder}
        onClose={() => setQuestion(null)}
        onDone={(path) => {
          if (question === NEW_FILE) onGo({ path: folder, file: path });
        }}
      />
    </DropArea>
  );
}

interface ToolbarProps {
  onFile: () => void;
  onFolder: () => void;
  onUpload: () => void;
}

function Toolbar({ onFile, onFolder, onUpload }: ToolbarProps) {
  return (
    <div className={styles['tools']}>
      <Button size="small" icon={<FilePlus size={14} />} onClick={onFile}>
        New file
      </Button>
      <Button size="small" icon={<FolderPlus size={14} />} onClick={onFolder}>
        New folder
      </Button>
      <Button size="small" variant="primary" icon={<Upload size={14} />} onClick={onUpload}>
        Upload
      </Button>
    </div>
  );
}
