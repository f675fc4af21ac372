package level

// maxNotes bounds the distinct remarks that are kept.
const maxNotes = 20

// Note is a remark that a Frame or a request made, and how often.
type Note struct {
	Text  string
	Count int
}

// notes gathers remarks in the order of their first appearance.
type notes struct {
	list []Note
	at   map[string]int // in the list
}

func (n *notes) add(text string) {
	if text == "" {
		return
	}
	if i, known := n.at[text]; known {
		n.list[i].Count++
		return
	}
	if len(n.list) == maxNotes {
		return
	}
	if n.at == nil {
		n.at = map[string]int{}
	}
	n.at[text] = len(n.list)
	n.list = append(n.list, Note{text, 1})
}
