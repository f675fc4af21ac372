package report

// Target is what was measured. The GPUs are those that could be seen; a server that
// shares a host with others need not use all of them.
type Target struct {
	URL           Text       `json:"url"`
	Model         Text       `json:"model"`
	Engine        Text       `json:"engine"`
	EngineVersion Text       `json:"engine_version"`
	Settings      Settings   `json:"settings"`
	Hardware      []Hardware `json:"hardware"`
	HardwareWhy   Text       `json:"hardware_why"` // why no GPUs were seen

	Name string `json:"-"` // of the engine, for people; "" as Engine
}

// Settings are what the engine tells of how it was started. KV capacities are sums over
// its ranks; lengths are tokens.
type Settings struct {
	MaxModelLen      Number   `json:"max_model_len"`
	MaxInputLen      Number   `json:"max_input_len"`
	MaxRunning       Number   `json:"max_running"` // requests that run at once
	KVCapacityTokens Number   `json:"kv_capacity_tokens"`
	KVCapacityBlocks Number   `json:"kv_capacity_blocks"`
	KVBlockTokens    Number   `json:"kv_block_tokens"` // tokens of one block
	Ranks            Number   `json:"ranks"`           // whose figures are merged
	About            []string `json:"about"`           // what else it says of itself
	Why              Text     `json:"why"`             // why the engine's own figures are missing
}

// Hardware is GPUs of one kind.
type Hardware struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}
