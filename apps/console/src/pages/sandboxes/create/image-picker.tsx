import { Search } from 'lucide-react';
import { useId, useState } from 'react';
import type { SandboxImage } from '@svc/sdk';
import { Badge } from '../../../ui/badge.tsx';
import { TextField } from '../../../ui/field.tsx';
import styles from './create.module.css';
import { categoryLabel, findImages } from './find-images.ts';

export interface ImagePickerProps {
  catalog: readonly SandboxImage[];
  value: string;
  onChange: (image: string) => void;
}

/** Selects an image by category or search. */
export function ImagePicker({ catalog, value, onChange }: ImagePickerProps) {
  const [category, setCategory] = useState('popular');
  const [text, setText] = useState('');
  const name = useId();
  const shown = findImages(catalog, category, text);
  const chosen = catalog.find((image) => image.name === value);
  /** If a search hides the selected image, select the first match, so that Create uses a visible one. */
  const search = (wanted: string): void => {
    setText(wanted);
    const found = findImages(catalog, category, wanted);
    const isHidden = wanted !== '' && !found.some((image) => image.name === value);
    if (isHidden || value === '') onChange(found[0]?.name ?? '');
  };
  return (
    <fieldset className={styles['picker']}>
      <legend className={styles['legend']}>{chosen === undefined ? 'Image' : `Image: ${chosen.display_name}`}</legend>
      <TextField
        autoFocus
        label="Search images"
        labelHidden
        type="search"
        placeholder={`Search ${catalog.length} images`}
        autoComplete="off"
        spellCheck={false}
        leading={<Search size={14} />}
        value={text}
        onChange={(event) => search(event.target.value)}
        onKeyDown={(event) => {
          // Enter ends the search; another field or the button submits the form.
          if (event.key === 'Enter' && text !== '') event.preventDefault();
        }}
      />
      {text === '' && (
        <div className={styles['chips']} role="group" aria-label="Categories">
          {['popular', ...new Set(catalog.map((image) => image.category)), 'all'].map((each) => (
            <button
              key={each}
              type="button"
              className={styles['chip']}
              aria-pressed={each === category}
              onClick={() => setCategory(each)}
            >
              {categoryLabel(each)}
            </button>
          ))}
        </div>
      )}
      <div className={styles['images']}>
        {shown.map((image) => (
          <ImageChoice
            key={image.name}
            image={image}
            group={name}
            checked={image.name === value}
            onChoose={() => onChange(image.name)}
          />
        ))}
        {shown.length === 0 && <p className={styles['none']}>No matching images.</p>}
      </div>
    </fieldset>
  );
}

interface ImageChoiceProps {
  image: SandboxImage;
  group: string;
  checked: boolean;
  onChoose: () => void;
}

function ImageChoice({ image, group, checked, onChoose }: ImageChoiceProps) {
  return (
    <label className={styles['image']}>
      <input type="radio" name={group} value={image.name} checked={checked} onChange={onChoose} />
      <span className={styles['imageName']}>
        {image.display_name}
        {image.cached ? (
          <Badge tone="ok">cached</Badge>
        ) : image.progress !== null ? (
          <Badge tone="accent">downloading</Badge>
        ) : (
          <Badge>not cached</Badge>
        )}
      </span>
      <span className={styles['imageText']}>{image.description}</span>
    </label>
  );
}
